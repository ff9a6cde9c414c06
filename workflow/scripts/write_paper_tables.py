"""Set published numbers beside ours: see textbaselines.reporting.fidelity and claims."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.experiments.evaluation import run_folders
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting import claims, fidelity
from textbaselines.reporting.table_files import write_tables
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument("--corpora", type=Path, required=True, help="the folders of audits")
    parser.add_argument("--counts", type=Path, required=True, help="the study's counts")
    parser.add_argument("--fidelity", type=Path, required=True)
    parser.add_argument("--claims", type=Path, required=True, help="the comparisons")
    parser.add_argument("--verdicts", type=Path, required=True, help="a row for each claim")
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("paper", args.log) as log:
        study = storage.read_json(args.study)
        published = fidelity.load_published(args.published)
        cells = storage.read_parquet(args.cells)
        judged = fidelity.fidelity(cells, published)
        comparisons = claims.judge_claims(claims.read_points(run_folders(args.runs, study)))
        verdict = fidelity.verdict_lines(judged)
        tables = [
            fidelity.statistics_table(_statistics(args.corpora, args.counts, study), published),
            *fidelity.paper_tables(judged, published),
            fidelity.logs_table(judged, published),
            claims.claims_table(comparisons, study),
        ]
        storage.write_text(args.fidelity, to_csv(judged[judged["source"] == "paper"]))
        storage.write_text(args.claims, to_csv(comparisons))
        storage.write_text(args.verdicts, to_csv(claims.verdicts(comparisons)))
        lines = "".join(f"{line}\n" for line in verdict)
        write_tables(args.stem, tables, study["title"], txt=lines)
        log.info("%s", verdict[-1])


def _statistics(corpora: Path, counts: Path, study: dict) -> pd.DataFrame:
    names = [dataset["name"] for dataset in study["datasets"]]
    of = {entry["name"]: entry["counts"] for entry in study["representations"]}

    def summaries(representation: str) -> dict:
        return {
            name: storage.read_json(counts / name / of[representation] / "summary.json")
            for name in names
        }

    return fidelity.corpus_statistics(
        {name: storage.read_json(corpora / name / "audit.json") for name in names},
        {dataset["name"]: dataset["positive"] for dataset in study["datasets"]},
        summaries("uni"),
        summaries("bi"),
    )


if __name__ == "__main__":
    run_to_end(main)
