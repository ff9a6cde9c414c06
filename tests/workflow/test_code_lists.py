"""Each rule depends on its script and on what this imports: an edit of it runs the job again."""

import re
from pathlib import Path

import pytest

from textbaselines.core import provenance

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
_CALL = re.compile(r'\bcode=code\("(\w+)"\)')


def _imported(script: str) -> set[str]:
    root = Path(provenance.__file__).parents[1]
    files = provenance.files_imported_by(SCRIPTS / f"{script}.py")
    return {path.relative_to(root).as_posix() for path in files}


def test_every_script_has_a_rule_that_names_its_code() -> None:
    rules = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    named = {name for text in rules for name in _CALL.findall(text)}
    assert named == {path.stem for path in SCRIPTS.glob("*.py")}


@pytest.mark.parametrize(
    ("script", "files"),
    [
        (
            "fit_vocabularies",
            {"text/vocabulary.py", "study/folds.py", "core/errors.py", "core/storage.py"},
        ),
        ("train", {"models/nbsvm.py", "text/features.py", "datasets/corpus.py"}),
        ("write_report", {"reporting/report/page.py", "reporting/tables/layout.py"}),
    ],
)
def test_the_code_of_a_script_is_what_it_imports(script: str, files: set[str]) -> None:
    assert files <= _imported(script)


def test_training_does_not_rest_on_reporting() -> None:
    assert not [name for name in _imported("train") if name.startswith("reporting")]
