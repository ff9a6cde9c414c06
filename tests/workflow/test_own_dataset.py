"""A dataset of one's own in the real Snakefile: what is wrong is said before any job runs."""

import hashlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.xdist_group("workflow")

PRAISE = b"works at once\nfine battery\n\nthank you\nvery fine\n"
COMPLAINTS = b"broke on day two\nno answer from support\nbroke again\n"


class Own:
    """A project whose study has the one dataset gadgets, in a folder of its own."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.project = project
        self.mirror = folder / "my files"
        self.datasets = folder / "datasets"
        self.mirror.mkdir()
        self.datasets.mkdir()
        (self.mirror / "praise.txt").write_bytes(PRAISE)
        (self.mirror / "complaints.txt").write_bytes(COMPLAINTS)
        self.dataset = {
            "name": "gadgets",
            "title": "Gadgets",
            "citation": "None.",
            "terms": "none",
            "files": [
                {"name": f"gadgets-{name}.txt", "sources": [self.source(f"{name}.txt", content)]}
                for name, content in (("praise", PRAISE), ("complaints", COMPLAINTS))
            ],
            "reader": {
                "kind": "lines",
                "labels": {"gadgets-praise.txt": "praise", "gadgets-complaints.txt": "complaint"},
            },
            "encoding": {"name": "utf-8"},
            "classes": ["praise", "complaint"],
            "protocol": {"kind": "cv"},
            "expected": {"documents": {"praise": 4, "complaint": 3}, "left_out": 1},
        }
        self.study = folder / "study.yaml"
        content = {
            "name": "own",
            "title": "Own",
            "datasets": ["gadgets"],
            "dataset_folder": str(self.datasets),
            "mirror": str(self.mirror),
            "tokenizers": {"words": {"family": "words"}},
            "representations": {
                "uni": {"tokenizer": "words", "ngrams": [1, 1], "weighting": "binary"}
            },
            "methods": {"MNB": {"family": "mnb"}},
            "protocol": {"cv": {"folds": 2}, "inner": None},
            "tracking": "none",
        }
        self.study.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        self.write()

    @staticmethod
    def source(name: str, content: bytes) -> dict[str, str]:
        return {"kind": "mirror", "name": name, "sha256": hashlib.sha256(content).hexdigest()}

    def write(self) -> None:
        text = yaml.safe_dump(self.dataset, sort_keys=False)
        (self.datasets / "gadgets.yaml").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments, "--configfile", str(self.study)],
            cwd=self.project,
            env={name: os.environ[name] for name in os.environ if name != "TEXTBASELINES_MIRROR"},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def own(tmp_path: Path, untouched: Path) -> Own:
    return Own(tmp_path, untouched)


def test_what_the_mirror_lacks_stops_the_run_and_the_plan(own: Own) -> None:
    own.dataset["files"][0]["sources"] = [own.source("praise.txt", b"other")]
    own.dataset["files"][1]["sources"] = [own.source("complaint.txt", COMPLAINTS)]
    own.write()
    for command in (("snakemake", "--cores", "1"), ("textbaselines", "plan")):
        run = own.run(*command)
        said = run.stdout + run.stderr
        assert run.returncode == 1, said
        assert "2 mistakes" in said
        assert "praise.txt in the mirror is another file" in said
        assert hashlib.sha256(PRAISE).hexdigest() in said
        assert "key files[0].sources[0].sha256 (line 10)" in said
        assert "write name: complaints.txt" in said
        assert "Traceback" not in said
        assert not (own.project / "results" / "raw").exists()


def test_wrong_counts_are_told_with_lines_that_are_right(own: Own) -> None:
    """The job says what it found; with the printed lines in the dataset file it passes."""
    own.dataset["expected"] = {"documents": {"praise": 5, "complaint": 3}}
    own.write()
    corpus = "results/corpora/gadgets/corpus.parquet"
    run = own.run("snakemake", corpus, "--cores", "1")
    said = run.stdout + run.stderr
    assert run.returncode == 1, said
    assert "praise 4 instead of 5" in said
    assert "left out 1 instead of 0" in said
    assert "fetch it again" not in said
    assert "go online" not in said
    _, _, lines = said.partition("datasets/gadgets.yaml\n")
    printed = []
    for line in lines.splitlines():
        if not line.startswith("    "):
            break
        printed.append(line)
    own.dataset |= yaml.safe_load(textwrap.dedent("\n".join(printed)))
    own.write()
    run = own.run("snakemake", corpus, "--cores", "1")
    assert run.returncode == 0, run.stderr
    # An edit of one's own file is found, though an earlier copy was fetched.
    with (own.mirror / "praise.txt").open("ab") as stream:
        stream.write(b"one more\n")
    run = own.run("snakemake", corpus, "--cores", "1")
    assert run.returncode == 1
    assert "changed since it was fetched: praise.txt in the mirror" in run.stdout + run.stderr


def test_no_cores_are_refused(own: Own) -> None:
    run = own.run("snakemake", "--cores", "0")
    assert run.returncode == 1
    assert "No job can run on 0 cores" in run.stdout + run.stderr
