"""The corpora that the benchmarks run on, through the project's own fetching and reading."""

from pathlib import Path

import pandas as pd

from textbaselines.core.environment import find_mirror
from textbaselines.core.errors import UserError
from textbaselines.datasets.catalog import load_catalog
from textbaselines.datasets.corpus import build_corpus
from textbaselines.datasets.fetch import fetch_file
from textbaselines.text.tokenizers import tokenize_all

ROOT = Path(__file__).resolve().parent.parent
TOKENIZER = {"family": "words", "lowercase": True, "punctuation": "keep"}


def read_dataset(name: str) -> pd.DataFrame:
    """Return a dataset's documents: id, text, label, split and group; fetched where it is not.

    Raises
    ------
    SystemExit
        With what happened, where the raw files cannot be fetched or are not the expected ones.
    """
    try:
        return _read_dataset(name)
    except UserError as error:
        raise SystemExit(str(error)) from None


def _read_dataset(name: str) -> pd.DataFrame:
    dataset = load_catalog(ROOT / "config" / "datasets", [name])[name]
    raw = ROOT / "results" / "raw"
    mirror = find_mirror(None, ROOT)
    for file in dataset.files:
        if not (raw / file.name).exists():
            fetch_file(file, raw / file.name, mirror=mirror, work_folder=raw)
    return build_corpus(dataset, raw).frame


def tokenised(documents: pd.DataFrame) -> pd.DataFrame:
    """Return the documents with their tokens, joined by single spaces, as text."""
    lists = tokenize_all(documents["text"], TOKENIZER)
    return documents.assign(text=pd.array([" ".join(tokens) for tokens in lists], dtype="str"))
