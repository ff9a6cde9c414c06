"""What a reader of results should know of a corpus: sizes, lengths, repeats and leaks."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.datasets.corpus import Corpus
from textbaselines.datasets.near_duplicates import near_duplicates

QUANTILES = {
    "minimum": 0.0,
    "5%": 0.05,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "95%": 0.95,
    "maximum": 1.0,
}
_REPLACEMENT = re.compile("\ufffd")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_EXAMPLES = 5
_EXCERPT = 200


def audit(corpus: Corpus) -> dict[str, Any]:
    """Count what could mislead in a corpus.

    Returns
    -------
    dict
        Of plain JSON values:

        - ``documents``, ``documents_by_class``, ``documents_by_split`` (split, then class),
        - ``left_out``: documents that reading left out, by reason,
        - ``skipped_members``: files in an archive that a desktop added, by kind; none is read,
        - ``empty_documents``: those without a character that is not white space,
        - ``length``: mean and quantiles (linear interpolation) in characters and in tokens
          between white space,
        - ``duplicates``, of texts that are the same but for white space and Unicode normalisation
          (see :func:`~textbaselines.datasets.corpus.text_group`): ``unique_texts``,
          ``repeating_documents`` (that repeat the text of an earlier document; those that do
          so to the character are ``repeating_exactly``), ``repeated_texts`` (distinct),
          ``repeating_documents_by_split`` (within each split), ``texts_with_several_labels``
          and ``documents_with_such_texts``,
        - ``near_duplicates``, of different texts that share most of their word pairs (see
          :func:`textbaselines.datasets.near_duplicates.near_duplicates`): ``documents`` that have
          one, and ``examples``, the most alike: ids ``a`` and ``b``, ``similarity``, the labels and
          the beginnings of the texts; ``pairs_not_compared``, at most so many candidates that the
          bound on work left out, and ``documents_not_settled``: those with such candidates and no
          near-duplicate so far,
        - ``split_overlap`` (null without a split): ``texts`` that stand in both the training and
          the test documents, and the ``test_documents`` that have one,
        - ``encoding_replacements``: U+FFFD that stand for undecodable bytes (``characters``)
          and the ``documents`` that have one,
        - ``replacement_characters``: U+FFFD in the texts, wherever they come from, and
          ``control_characters``: those of C0, C1 and DEL but tab, line feed and carriage return.
          Each has ``characters`` and ``documents`` (that have one); of control characters also
          ``by_character`` (``U+0085`` and its like, of C1, mostly stand for text in cp1252 that
          was read as iso-8859-1),
        - ``content_digest``: sha256, see :func:`~textbaselines.datasets.corpus.content_digest`.
    """
    frame = corpus.frame
    text, label, split, group = (frame[name] for name in ("text", "label", "split", "group"))
    repeats = group.duplicated()
    labels_per_text = label.groupby(group).nunique()
    several = labels_per_text.index[labels_per_text > 1]
    return {
        "documents": len(frame),
        "documents_by_class": _counts(label),
        "documents_by_split": {
            str(name): _counts(part) for name, part in label.groupby(split) if name
        },
        "left_out": dict(corpus.left_out),
        "skipped_members": dict(corpus.skipped_members),
        "empty_documents": sum(not string.strip() for string in text),
        "length": {
            "characters": _summary([len(string) for string in text]),
            "tokens": _summary([len(string.split()) for string in text]),
        },
        "duplicates": {
            "unique_texts": int((~repeats).sum()),
            "repeating_documents": int(repeats.sum()),
            "repeating_exactly": int(text.duplicated().sum()),
            "repeated_texts": int(group[repeats].nunique()),
            "repeating_documents_by_split": {
                str(name): int(part.duplicated().sum())
                for name, part in group.groupby(split)
                if name
            },
            "texts_with_several_labels": len(several),
            "documents_with_such_texts": int(group.isin(several).sum()),
        },
        "near_duplicates": _near(frame),
        "split_overlap": _overlap(group, split),
        "encoding_replacements": {
            "characters": corpus.replaced_characters,
            "documents": corpus.replaced_documents,
        },
        "replacement_characters": _characters(text, _REPLACEMENT),
        "control_characters": {
            **_characters(text, _CONTROL),
            "by_character": dict(
                sorted(Counter(f"U+{ord(c):04X}" for c in _found(text, _CONTROL)).items())
            ),
        },
        "content_digest": corpus.content_digest,
    }


def _characters(texts: pd.Series, pattern: re.Pattern[str]) -> dict[str, int]:
    counts = [len(pattern.findall(text)) for text in texts]
    return {"characters": sum(counts), "documents": sum(count > 0 for count in counts)}


def _found(texts: pd.Series, pattern: re.Pattern[str]) -> Iterator[str]:
    return itertools.chain.from_iterable(map(pattern.findall, texts))


def _counts(labels: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in labels.value_counts(sort=False).items()}


def _summary(lengths: list[int]) -> dict[str, float]:
    values = np.quantile(lengths, list(QUANTILES.values()))
    return {"mean": float(np.mean(lengths))} | dict(zip(QUANTILES, values.tolist(), strict=True))


def _near(frame: pd.DataFrame) -> dict[str, Any]:
    first = frame.drop_duplicates("group")
    found = near_duplicates(first["text"].tolist())
    of_document = frame["group"].isin(first["group"][found.near])
    examples = []
    for pair in found.pairs[:_EXAMPLES]:
        example: dict[str, Any] = {"similarity": pair.similarity}
        for side, place in (("a", pair.a), ("b", pair.b)):
            document = first.iloc[place]
            example[side] = document["id"]
            example[f"label_{side}"] = document["label"]
            example[f"text_{side}"] = " ".join(document["text"].split())[:_EXCERPT]
        examples.append(example)
    return {
        "documents": int(of_document.sum()),
        "examples": examples,
        "pairs_not_compared": found.pairs_not_compared,
        "documents_not_settled": int(frame["group"].isin(first["group"][found.unsettled]).sum()),
    }


def _overlap(group: pd.Series, split: pd.Series) -> dict[str, int] | None:
    if not (split != "").any():
        return None
    leaked = group[split == "test"]
    leaked = leaked[leaked.isin(group[split == "train"])]
    return {"texts": int(leaked.nunique()), "test_documents": len(leaked)}
