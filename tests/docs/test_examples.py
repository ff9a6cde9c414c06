"""Every code block of README.md and docs/ runs: blocks are found here, no page is named twice.

Python runs, a page's blocks one after another, and prints what its comments say. YAML is read as a
dataset file or as a part of a study. Shell blocks marked `sh` run in a copy of the project, in
which the dataset files of their page lie; of other commands the targets, options and study files
are checked. A block that cannot run stands in LISTED with its reason.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from markdown_it import MarkdownIt

from textbaselines.cli.commands import main
from textbaselines.datasets.catalog import load_dataset
from textbaselines.study.definition import make_study

REPOSITORY = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "config", "profiles", "src", "workflow", "environment.yml", "pyproject.toml")

# By page and the beginning of the block: why it does not run.
LISTED = {
    ("README.md", "Classical baselines on four sets"): "output: the default study takes minutes",
    ("docs/models.md", "curl -s"): "needs a server and its model: tests/workflow serves one",
    ("docs/models.md", "mlflow.set_tracking_uri"): "needs the store: tests/workflow loads from one",
    ("docs/models.md", "P(class) = softmax"): "a formula",
    ("docs/tracking.md", "MLFLOW_REGISTRY_URI is set"): "a line of the log",
    ("docs/studies.md", "E[best of n]"): "a formula",
    ("docs/methods/adding.md", "stored=("): "a part of a call",
    ("docs/architecture.md", "dataset file"): "a picture",
    (
        "docs/results.md",
        "from textbaselines.evaluation.runs",
    ): "needs a study: tests/workflow reads runs",
    ("docs/studies.md", "module baselines"): "a part of a Snakefile: tests/workflow/test_module.py",
}
# A command's first words; what else a block may have are comments and variables.
COMMANDS = ("make", "snakemake", "python", ".", "conda")
# For a part of a study file: what it is put into.
STUDY = {
    "name": "example",
    "title": "Example",
    "datasets": ["hg-movie"],
    "tokenizers": {"words": {"family": "words"}},
    "representations": {
        name: {
            "tokenizer": "words",
            "ngrams": [1, highest],
            "weighting": "binary",
            "unk": {"policy": "drop"},
        }
        for name, highest in (("uni", 1), ("bi", 2))
    },
    "methods": {name: {"family": name.lower()} for name in ("MNB", "SVM", "NBSVM")},
}


class Block(NamedTuple):
    """A code block: its page, the line that it begins in, its language ("" unless fenced)."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def kind(self) -> str:
        """What the block is: python, doctest, sh, command, yaml, listed or unknown."""
        if any(self.page == page and self.text.startswith(start) for page, start in LISTED):
            return "listed"
        if self.language in ("python", "sh", "yaml"):
            return self.language
        if self.text.startswith(">>>"):
            return "doctest"
        lines = [line for line in self.text.splitlines() if line.strip()]
        if all(line.split()[0] in COMMANDS for line in lines):
            return "command"
        if re.match(r"[a-z_]+:( |$)", lines[0]):
            return "yaml"
        return "unknown"


def blocks_of(page: Path) -> list[Block]:
    name = str(page.relative_to(REPOSITORY))
    return [
        Block(name, token.map[0] + 1, token.info.strip(), token.content)
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type in ("fence", "code_block")
    ]


PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of_kind(*kinds: str) -> list:
    return [pytest.param(block, id=block.place) for block in BLOCKS if block.kind in kinds]


def pages_with(kind: str) -> list[str]:
    return sorted({block.page for block in BLOCKS if block.kind == kind})


def test_every_block_is_run_or_listed() -> None:
    assert [block.place for block in BLOCKS if block.kind == "unknown"] == []
    for page, start in LISTED:
        found = [one for one in BLOCKS if one.page == page and one.text.startswith(start)]
        assert len(found) == 1, f"{page} has no block, or several, that begin with {start!r}"


def run_python(text: str, names: dict) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(text, names)
    return printed.getvalue().splitlines()


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_runs_and_prints_what_it_says(page: str) -> None:
    names: dict = {}
    for block in BLOCKS:
        if block.page == page and block.kind == "python":
            printed = run_python(block.text, names)
            promised = re.findall(r"^print\(.*\)\s+# (.*)$", block.text, re.MULTILINE)
            assert len(printed) >= len(promised), block.place
            for said, found in zip(promised, printed, strict=False):
                # A comment may go on after what is printed: "1, which is 'pos'".
                assert said.startswith(found), f"{block.place}: {found!r}"


def single_values(text: str) -> list[str]:
    """Cut YAML in which a key comes more than once into alternatives, each key once."""
    parts = re.split(r"^(?=[a-z_]+:)", text, flags=re.MULTILINE)
    keys = [part.partition(":")[0] for part in parts if part.strip() and part[0] != "#"]
    return [text] if len(keys) == len(set(keys)) else [part for part in parts if part.strip()]


def whole_dataset(text: str, value: dict) -> str:
    """Add to a part of a dataset file, text and value, what it leaves out."""
    classes = sorted(set(value["reader"]["labels"].values()))
    source = {"kind": "mirror", "name": "example.csv", "sha256": "0" * 64}
    rest = {
        "name": "example",
        "title": "Example",
        "citation": "None.",
        "terms": "none",
        "files": [{"name": "example.csv", "sources": [source]}],
        "classes": classes,
        "expected": {"documents": dict.fromkeys(classes, 20)},
    }
    return text + yaml.safe_dump({key: rest[key] for key in rest if key not in value})


@pytest.mark.parametrize("block", of_kind("yaml"))
def test_yaml_is_a_dataset_or_a_part_of_a_study(block: Block, tmp_path: Path) -> None:
    for text in single_values(block.text):
        value = yaml.safe_load(text)
        if "reader" in value:
            whole = text if "name" in value else whole_dataset(text, value)
            path = tmp_path / f"{yaml.safe_load(whole)['name']}.yaml"
            path.write_text(whole, encoding="utf-8")
            load_dataset(path)
        else:
            make_study({**STUDY, **value}, block.place, REPOSITORY)


def commands_in(block: Block) -> list[list[str]]:
    return [shlex.split(line, comments=True) for line in block.text.splitlines() if line.strip()]


@pytest.mark.parametrize("block", of_kind("command"))
def test_commands_name_what_there_is(block: Block, tmp_path: Path) -> None:
    for first, *rest in commands_in(block):
        if first == "make":
            command = ["make", "--dry-run", f"--directory={REPOSITORY}", *rest]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            assert run.returncode == 0, f"{block.place}: {run.stderr}"
            for word in rest:
                name, sign, value = word.partition("=")
                if name == "STUDY":
                    assert (REPOSITORY / value).is_file() or value == "my_study.yaml", block.place
                if sign:  # a variable that the Makefile reads
                    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
                    assert re.search(rf"^GIVEN := .*\b{name}\b", makefile, re.M), block.place
        elif first == "snakemake":
            study = REPOSITORY / "config" / "config.yaml"
            shutil.copy(study, tmp_path / "my_study.yaml")  # as the page says to begin
            command = [sys.executable, "-m", "snakemake", "-n", "--quiet", *rest]
            command += ["--snakefile", str(REPOSITORY / "Snakefile")]
            run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert run.returncode == 0, f"{block.place}: {run.stdout}{run.stderr}"
        elif first == "python":
            check_python(rest, block)
        elif first == ".":
            assert rest == [".venv/bin/activate"], block.place
        else:
            pytest.fail(f"{block.place}: no check of {first!r}")


def check_python(words: list[str], block: Block) -> None:
    if words[:2] != ["-m", "textbaselines"]:
        assert (REPOSITORY / words[0]).is_file(), block.place
        return
    group, rest = main, words[2:]
    while hasattr(group, "commands"):
        name, *rest = rest
        assert name in group.commands, f"{block.place}: {name}"
        group = group.commands[name]
    group.make_context(group.name, list(rest))  # raises for an unknown option or a bad value


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the pages' `sh` blocks were run, their dataset files there."""
    folder = tmp_path_factory.mktemp("examples")
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, ignore=ignored)
        else:
            shutil.copy(source, folder / part)
    with_shell = pages_with("sh")
    for block in BLOCKS:
        if block.page in with_shell and block.kind == "yaml":
            value = yaml.safe_load(block.text)
            if "reader" in value and "name" in value:
                path = folder / "config" / "datasets" / f"{value['name']}.yaml"
                path.write_text(block.text, encoding="utf-8")
    variables = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    variables.pop("TEXTBASELINES_MIRROR", None)
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"
    for block in BLOCKS:
        if block.kind == "sh":
            run = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.text],
                cwd=folder,
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert run.returncode == 0, f"{block.place}: {run.stdout[-6000:]}"
            (folder / f"{block.line}.out").write_text(run.stdout, encoding="utf-8")
    return folder


@pytest.mark.xdist_group("workflow")
def test_the_example_dataset_runs_under_the_default_study(project: Path) -> None:
    printed = "".join(path.read_text(encoding="utf-8") for path in project.glob("*.out"))
    assert "note: dataset gadgets: 1 class has fewer documents than the 3 folds" in printed
    assert "complaint (2, tests in 2 of 3 folds)" in printed
    (row,) = [line for line in printed.splitlines() if line.startswith("MNB-uni")][:1]
    assert re.search(r"\d+\.\d", row), printed[-3000:]
    assert (project / "results/default/models/gadgets/best/model.json").is_file()


@pytest.mark.xdist_group("workflow")
@pytest.mark.parametrize("block", of_kind("doctest"))
def test_sessions_run_on_a_model(block: Block, project: Path, monkeypatch) -> None:
    # Of the example dataset, for the default study takes minutes: so what is printed may differ.
    monkeypatch.chdir(project)
    text = block.text.replace("models/hg-movie/best", "models/gadgets/best")
    lines = [line[4:] for line in text.splitlines() if line.startswith((">>> ", "... "))]
    assert "results/default/models/gadgets/best" in text
    run_python("\n".join(lines), {})
