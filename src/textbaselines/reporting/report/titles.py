"""The titles that readers know, of rows and of datasets."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


def row_titles(study: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of each row of the tables by its name, ``<method>-<representation>``."""
    return {
        f"{method['name']}-{representation['name']}": f"{method['title']}-{representation['title']}"
        for method in study["methods"]
        for representation in study["representations"]
    }


def named(frame: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Add the titles of the dataset, and of the row, or of the two rows, where there are any."""
    datasets = {entry["name"]: entry["title"] for entry in study["datasets"]}
    named = frame.assign(dataset_title=frame["dataset"].map(datasets))
    titles = row_titles(study)
    for end, column in (("", "row"), ("_a", "row_a"), ("_b", "row_b")):
        if {f"method{end}", f"representation{end}"} <= set(frame):
            rows = frame[f"method{end}"] + "-" + frame[f"representation{end}"]
            named[column] = rows.map(titles).fillna(rows)
    return named
