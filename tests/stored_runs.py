"""Runs made by hand, put where the workflow puts them: a batch of its own for each."""

from pathlib import Path

import pandas as pd

from textbaselines.core.result_paths import BATCHES, RUN_TABLES
from textbaselines.core.storage import read_json, write_parquet
from textbaselines.evaluation.runs import Run, write_batch, write_index


def store_run(folder: Path) -> Run:
    """Store the run of a folder ``<runs>/<dataset>/<representation>/<method>`` and return it.

    The folder has run.json and tables; what is missing becomes an empty table, or an empty record.
    """
    runs, dataset, representation, method = folder.parents[2], *folder.parts[-3:]
    names = {"dataset": dataset, "representation": representation, "method": method}
    record = read_json(folder / "run.json") if (folder / "run.json").is_file() else {}
    for name in RUN_TABLES:
        if not (folder / f"{name}.parquet").is_file():
            empty = pd.DataFrame({"point": pd.array([], dtype="str")})
            write_parquet(folder / f"{name}.parquet", empty)
    batch = runs / dataset / f"{representation}-{method}"
    write_batch(batch, [({**record, **names}, folder)])
    index = read_json(runs / BATCHES) if (runs / BATCHES).is_file() else {}
    index.setdefault(dataset, {})[batch.name] = [[representation, method]]
    write_index(runs / BATCHES, index)
    return Run(batch, representation, method)
