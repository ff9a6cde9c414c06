"""The page on the architecture names what is there."""

import re
from pathlib import Path

import textbaselines

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_path_of_the_page_is_there() -> None:
    paths = re.findall(
        r"`((?:src|tests|docs|config|workflow|benchmarks|study|training)/[\w./]*)`", PAGE
    )
    assert len(paths) > 25
    library = Path(textbaselines.__file__).parent
    missing = [
        path for path in paths if not (ROOT / path).exists() and not (library / path).exists()
    ]
    assert missing == []


def test_every_rule_and_package_is_on_the_page() -> None:
    rules = {
        name
        for file in (ROOT / "workflow" / "rules").glob("*.smk")
        for name in re.findall(r"^rule (\w+):", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = set(re.findall(r"\w+", PAGE))
    assert rules - named == {"describe_study"}
    library = Path(textbaselines.__file__).parent
    packages = [file.parent.name for file in library.glob("*/__init__.py")]
    assert [name for name in packages if f"| `{name}` |" not in PAGE] == []
