"""The audits of a study's corpora as tables: the numbers of each, and near-duplicates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

DATA_COLUMNS = (
    "dataset",
    "documents",
    "classes",
    "left_out",
    "median_tokens",
    "tokens_95",
    "repeating_documents",
    "near_duplicates",
    "documents_of_two_labels",
    "test_texts_in_training",
    "replacement_characters",
    "control_characters",
    "skipped_members",
    "near_duplicates_not_settled",
)
NEAR_COLUMNS = ("dataset", "a", "text_a", "b", "text_b", "similarity")


def data_table(audits: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row for each dataset.

    Returns
    -------
    data frame with the columns :data:`DATA_COLUMNS`
        ``classes``: each with its number of documents, in words. ``test_texts_in_training`` is of
        the official split; missing without one. ``replacement_characters`` and
        ``control_characters``: the documents that have one. ``skipped_members``: the files in an
        archive that a desktop added. ``near_duplicates_not_settled``: documents that may have a
        near-duplicate among those that the bound on work left out.
    """
    rows = []
    for dataset, audit in audits.items():
        tokens, repeated = audit["length"]["tokens"], audit["duplicates"]
        overlap = audit["split_overlap"]
        by_class = audit["documents_by_class"]
        rows.append(
            (
                dataset,
                audit["documents"],
                ", ".join(f"{name} {count:,}" for name, count in by_class.items()),
                sum(audit["left_out"].values()),
                tokens["median"],
                tokens["95%"],
                repeated["repeating_documents"],
                audit["near_duplicates"]["documents"],
                repeated["documents_with_such_texts"],
                None if overlap is None else overlap["test_documents"],
                audit["replacement_characters"]["documents"],
                audit["control_characters"]["documents"],
                sum(audit["skipped_members"].values()),
                audit["near_duplicates"]["documents_not_settled"],
            )
        )
    return pd.DataFrame(rows, columns=list(DATA_COLUMNS))


def near_duplicates_table(audits: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the pairs that the audits show, with the columns :data:`NEAR_COLUMNS`."""
    pairs = [
        {"dataset": dataset, **pair}
        for dataset, audit in audits.items()
        for pair in audit["near_duplicates"]["examples"]
    ]
    return pd.DataFrame(pairs, columns=list(NEAR_COLUMNS))
