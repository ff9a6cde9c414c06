"""The sections of a report, each from the files it needs, and a word where they are absent."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines import provenance, storage
from textbaselines.experiments.evaluation import INTERVAL
from textbaselines.experiments.selection import ACROSS
from textbaselines.reporting.contrasts import (
    across_table,
    contrast_table,
    omnibus_words,
    rank_table,
    signed,
)
from textbaselines.reporting.costs import cost_table
from textbaselines.reporting.report.blocks import (
    Block,
    Commands,
    Picture,
    Prose,
    Results,
    Section,
    Sheet,
    Source,
    sheet_of_frame,
)
from textbaselines.reporting.report.findings import findings, row_titles
from textbaselines.reporting.tables import comparison_tables, percent

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "statsmodels", "snakemake", "mlflow")
_MOST_ROWS = 25


def sections_of(results: Results, study: Mapping[str, Any], root: Path) -> list[Section]:
    """Return the sections of a study's report, the answer first.

    Parameters
    ----------
    results : Results
        The files; ``cells/<study>.parquet`` must be among them.
    study : mapping
        The study's description.
    root : Path
        The checkout, whose commit and lock are told.
    """
    cells = storage.read_parquet(results.folder / f"cells/{study['name']}.parquet")
    sections = [
        _answer(results, study, cells),
        _accuracy(results, study, cells),
        _contrasts(results, study),
        _search(results, study),
        _learning_curves(results, study),
        _calibration(results, study),
        _lengths(results, study),
        _errors(results, study),
        _paper(results, study),
        _duplicates(results, study),
        _costs(results, study),
        _data(results, study),
        _environment(study, root),
        _reproduce(study),
    ]
    return [section for section in sections if section is not None]


def _answer(results: Results, study: Mapping[str, Any], cells: pd.DataFrame) -> Section:
    name = study["name"]
    folder = f"significance/{name}"
    pairs, contrasts = (results.table(f"{folder}/{one}.csv") for one in ("pairs", "contrasts"))
    sources = [Source(f"tables/{name}/comparison.csv", "write_tables")]
    if pairs is not None:
        sources += [Source(f"{folder}/{one}.csv", "compare_rows") for one in ("pairs", "contrasts")]
    datasets = len(study["datasets"])
    rows = len(cells[["method", "representation"]].drop_duplicates())
    question = (
        f"Which of {rows} rows (a method on a representation) is the most accurate on "
        f"{'this dataset' if datasets == 1 else f'these {datasets} datasets'}, by how much, and "
        "how sure is that?"
    )
    said = findings(cells, pairs, contrasts, study)
    blocks: list[Block] = [Prose((question,)), Prose(tuple(said), tuple(sources), listed=True)]
    ranks, omnibus = (results.table(f"{folder}/{one}.csv") for one in ("ranks", "omnibus"))
    if ranks is not None and omnibus is not None and datasets > 1:
        blocks.append(
            Prose(
                (_over_all(ranks, omnibus, study),),
                (Source(f"{folder}/ranks.csv", "compare_rows"),),
            )
        )
    caution = [
        "The row with the highest accuracy was picked by these very numbers, so its lead is "
        "flattered; the declared comparisons are not. That no difference is shown does not show "
        "that there is none."
    ]
    if pairs is None:
        caution = ["No paired test was made: two overlapping intervals do not mean equality."]
    blocks.append(Prose(tuple(caution)))
    return Section("answer", "The answer", tuple(blocks))


def _over_all(ranks: pd.DataFrame, omnibus: pd.DataFrame, study: Mapping[str, Any]) -> str:
    words = f"Over all datasets: {omnibus_words(omnibus)}"
    ranked = ranks.dropna(subset=["average_rank"])
    if len(ranked):
        first = ranked.sort_values("average_rank", kind="stable").iloc[0]
        title = row_titles(study).get(first["row"], first["row"])
        words += f" The best average rank is that of {title}, {first['average_rank']:.2f}."
    return words


def _accuracy(results: Results, study: Mapping[str, Any], cells: pd.DataFrame) -> Section:
    name = study["name"]
    source = Source(f"tables/{name}/comparison.csv", "write_tables")
    tables = comparison_tables(
        cells, study, decimals=study["tables"]["decimals"], interval=INTERVAL
    )
    # What was chosen without the test folds comes first.
    order = {"comparison-nested": 0, "comparison-fixed": 1, "comparison-oracle": 2}
    tables.sort(key=lambda table: order[table.name])
    blocks: list[Block] = [Sheet(table, (source,)) for table in tables]
    figure = _picture(
        results,
        f"figures/{name}/accuracy",
        "accuracy",
        "Accuracy with 95 % intervals, one panel for each dataset; hyper-parameters fixed before "
        "the run.",
        source,
    )
    at = next((i + 1 for i, table in enumerate(tables) if table.name == "comparison-fixed"), 0)
    return Section("accuracy", "Accuracy", (*blocks[:at], *figure, *blocks[at:]))


def _contrasts(results: Results, study: Mapping[str, Any]) -> Section:
    title = "Is the difference real?"
    folder = f"significance/{study['name']}"
    contrasts = results.table(f"{folder}/contrasts.csv")
    if contrasts is None:
        return _absent("difference", title, f"{folder}/contrasts.csv")
    blocks: list[Block] = [
        Sheet(
            contrast_table(contrasts, study),
            tuple(Source(f"{folder}/{one}.csv", "compare_rows") for one in ("contrasts", "pairs")),
        )
    ]
    across, ranks, omnibus = (
        results.table(f"{folder}/{one}.csv") for one in ("across", "ranks", "omnibus")
    )
    if across is not None and ranks is not None and omnibus is not None:
        blocks += [
            Sheet(across_table(across, study), (Source(f"{folder}/across.csv", "compare_rows"),)),
            Sheet(
                rank_table(ranks, omnibus, study),
                tuple(Source(f"{folder}/{o}.csv", "compare_rows") for o in ("ranks", "omnibus")),
            ),
        ]
    blocks += _picture(
        results,
        f"figures/{study['name']}/critical-difference",
        "critical-difference",
        "Average ranks over the datasets; a bar joins rows that Nemenyi's test does not tell "
        "apart.",
        Source(f"{folder}/nemenyi.csv", "compare_rows"),
    )
    return Section("difference", title, tuple(blocks))


def _search(results: Results, study: Mapping[str, Any]) -> Section:
    stem = f"search/{study['name']}/curves"
    figure = _picture(
        results,
        stem,
        "search",
        "What search pays: expected accuracy on the inner folds of the best of n grid points "
        "drawn at random, against n (Dodge et al. 2019).",
        Source(f"{stem}.csv", "write_search_curves"),
    )
    if not figure:
        return _absent("search", "Hyper-parameters", f"{stem}.csv")
    return Section("search", "Hyper-parameters", tuple(figure))


def _learning_curves(results: Results, study: Mapping[str, Any]) -> Section:
    title = "More documents"
    folder = f"learning_curves/{study['name']}"
    source = Source(f"{folder}/curves.csv", "write_learning_curves")
    blocks: list[Block] = _picture(
        results,
        f"{folder}/curves",
        "learning-curves",
        "Accuracy against the number of training documents; each smaller training set is "
        "contained in every larger one, and all methods are trained on the same documents.",
        source,
    )
    crossings = results.table(f"{folder}/crossings.csv")
    if crossings is None:
        return Section(
            "learning-curves",
            title,
            absent="This study has no learning curves (key learning_curves of the study file).",
        )
    if len(crossings):
        blocks.append(
            sheet_of_frame(
                _named(crossings, study),
                {
                    "dataset_title": ("Dataset", None),
                    "generative": ("Generative", None),
                    "discriminative": ("Discriminative", None),
                    "crossing": ("Crossing, documents", _count),
                    "low": ("95 % from", _count),
                    "high": ("to", _count),
                    "verdict": ("In words", None),
                },
                name="crossings",
                title="Generative against discriminative",
                caption="Where the mean difference over the folds last changes its sign (Ng & "
                "Jordan 2002 expect the discriminative method ahead in the end). The interval "
                "resamples folds, which share training documents: it is too narrow.",
                sources=(Source(f"{folder}/crossings.csv", "write_learning_curves"),),
                at_most=_MOST_ROWS,
            )
        )
    return Section("learning-curves", title, tuple(blocks))


def _calibration(results: Results, study: Mapping[str, Any]) -> Section:
    title = "Are the probabilities right?"
    folder = f"calibration/{study['name']}"
    table = results.table(f"{folder}/calibration.csv")
    if table is None:
        return _absent("calibration", title, f"{folder}/calibration.csv")
    source = Source(f"{folder}/calibration.csv", "measure_calibration")
    with_numbers = _named(table[table["ece"].notna()], study)
    blocks: list[Block] = [
        *_picture(
            results,
            f"{folder}/reliability",
            "reliability",
            "Reliability: the share of positive documents against the probability that was said.",
            Source(f"{folder}/reliability.csv", "measure_calibration"),
        ),
        *_picture(
            results,
            f"{folder}/by_length",
            "calibration-by-length",
            "Confidence minus accuracy by document length, in fifths of the documents.",
            Source(f"{folder}/by_length.csv", "measure_calibration"),
        ),
    ]
    if with_numbers.empty:
        none = "No method of this study has scores of two classes to be calibrated."
        return Section("calibration", title, (Prose((none,), (source,)), *blocks))
    blocks.append(
        sheet_of_frame(
            with_numbers,
            {
                "row": ("Row", None),
                "dataset_title": ("Dataset", None),
                "calibration": ("Calibration", None),
                "ece": ("ECE %", _percent),
                "ece_low": ("95 % from", _percent),
                "ece_high": ("to", _percent),
                "overconfidence": ("Overconfident, points", _points),
                "brier": ("Brier", _three),
                "log_loss": ("Log-loss, nats", _three),
            },
            name="calibration-table",
            title="Calibration",
            caption="ECE: expected calibration error, 15 bins of equal mass. Overconfident: mean "
            "probability of the predicted class minus accuracy. Platt's and isotonic calibration "
            "are fitted on inner folds.",
            sources=(source,),
            at_most=60,
        )
    )
    return Section("calibration", title, tuple(blocks))


def _lengths(results: Results, study: Mapping[str, Any]) -> Section:
    stem = f"lengths/{study['name']}/accuracy_by_length"
    figure = _picture(
        results,
        stem,
        "lengths",
        "Accuracy by document length, in fifths of the documents, with 95 % intervals.",
        Source(f"{stem}.csv", "measure_lengths"),
    )
    if not figure:
        return _absent("lengths", "Does length matter?", f"{stem}.csv")
    return Section("lengths", "Does length matter?", tuple(figure))


def _errors(results: Results, study: Mapping[str, Any]) -> Section:
    title = "What goes wrong"
    folder = f"errors/{study['name']}"
    blocks: list[Block] = []
    label = {"label": ("Label", None), "predicted": ("Predicted", None), "text": ("Text", None)}
    known = {"dataset_title": ("Dataset", None), "id": ("Document", None)}
    for file, columns, heading, caption in (
        (
            "hard_documents",
            {**known, **label, "share_wrong": ("Wrong %", _percent)},
            "Documents that most methods get wrong",
            "The hardest of each dataset; wrong: the share of all predictions.",
        ),
        (
            "suspects",
            {**known, **label, "mean_confidence_rank": ("Confidence rank %", _percent)},
            "Labels to look at again",
            "Wrong for every method in every repeat, each surer than of half of its predictions. "
            "A suspect label need not be wrong: irony looks the same.",
        ),
        (
            "confident_errors",
            {**known, **label, "because": ("Because of", None), "margin": ("Margin", _three)},
            "The most confident errors, and why",
            "Of the most accurate linear row of each dataset: the n-grams that spoke loudest for "
            "the wrong class, with weight times value.",
        ),
        (
            "ngrams",
            {
                "dataset_title": ("Dataset", None),
                "class": ("Class", None),
                "by": ("By", None),
                "strongest": ("Strongest n-grams", None),
            },
            "The strongest n-grams of each class",
            "By r, the log-count ratio of the class against the rest, and by w, the weight of the "
            "model; the strongest first, from the first fold's training documents.",
        ),
    ):
        frame = results.table(f"{folder}/{file}.csv")
        if frame is None:
            continue
        source = Source(f"{folder}/{file}.csv", "analyse_errors")
        if frame.empty:
            blocks.append(Prose((f"{heading}: none.",), (source,)))
            continue
        frame = _named(frame, study)
        if file == "confident_errors":
            frame = _gathered(frame)
        elif file == "ngrams":
            frame = _strongest(frame)
        elif study["datasets"]:
            # A few of each dataset, not the first dataset alone.
            frame = frame.groupby("dataset", sort=False).head(
                max(3, _MOST_ROWS // len(study["datasets"]))
            )
        blocks.append(
            sheet_of_frame(
                frame,
                columns,
                name=file.replace("_", "-"),
                title=heading,
                caption=f"{caption} The file has more rows and columns.",
                sources=(source,),
                at_most=2 * _MOST_ROWS,
            )
        )
    if not blocks:
        return _absent("errors", title, f"{folder}/hard_documents.csv")
    return Section("errors", title, tuple(blocks))


def _gathered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each confident error, its loudest n-grams in one cell."""
    rows = []
    key = ["dataset", "repeat", "fold", "id"]
    for _, group in frame.groupby([one for one in key if one in frame], sort=False):
        real = group[~group["ngram"].astype(str).str.startswith("(")]
        loud = real.sort_values("contribution", ascending=False, kind="stable").head(5)
        because = ", ".join(
            f"{ngram} {signed(value)}"
            for ngram, value in zip(loud["ngram"], loud["contribution"], strict=True)
        )
        rows.append({**group.iloc[0].to_dict(), "because": because})
    found = pd.DataFrame(rows)
    return found.groupby("dataset", sort=False).head(6)


def _strongest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each class and measure, its strongest n-grams in one cell."""
    rows = []
    for _, group in frame.groupby(["dataset", "class", "by"], sort=False):
        ordered = group.sort_values("place", kind="stable").head(12)
        rows.append({**group.iloc[0].to_dict(), "strongest": ", ".join(map(str, ordered["ngram"]))})
    return pd.DataFrame(rows)


def _paper(results: Results, study: Mapping[str, Any]) -> Section | None:
    name = study["name"]
    fidelity = results.table("tables/fidelity.csv")
    claims = results.table(f"tables/{name}/claims.csv")
    if fidelity is None or claims is None:
        return None
    words = Prose(
        (
            "The published numbers beside ours, and the verdict on each claim, stand in files of "
            "their own.",
        ),
        (
            Source("tables/fidelity.csv", "write_paper_tables"),
            Source(f"tables/{name}/claims.csv", "write_paper_tables"),
        ),
    )
    return Section("paper", "The paper", (words,))


def _named(frame: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Add the titles that readers know: of the dataset, and of the row where there is one."""
    datasets = {entry["name"]: entry["title"] for entry in study["datasets"]}
    named = frame.assign(dataset_title=frame["dataset"].map(datasets))
    if {"method", "representation"} <= set(frame):
        titles = row_titles(study)
        rows = frame["method"] + "-" + frame["representation"]
        named["row"] = rows.map(titles).fillna(rows)
    return named


def _duplicates(results: Results, study: Mapping[str, Any]) -> Section:
    title = "Repeated texts"
    file = f"duplicates/{study['name']}/leak.csv"
    leak = results.table(file)
    if leak is None:
        return _absent("duplicates", title, file)
    source = Source(file, "measure_leak")
    if leak.empty:
        none = "No test document's text stands word by word in the training documents of its fold."
        return Section("duplicates", title, (Prose((none,), (source,)),))
    shown = leak[(leak["representation"] != ACROSS) & leak["cost_points"].notna()]
    shown = _named(shown, study)
    ends = zip(shown["cost_low_points"], shown["cost_high_points"], strict=True)
    shown["between"] = [f"{signed(low)} to {signed(high)}" for low, high in ends]
    sheet = sheet_of_frame(
        shown.sort_values("cost_points", ascending=False, kind="stable"),
        {
            "row": ("Row", None),
            "dataset_title": ("Dataset", None),
            "share_repeated": ("Repeated %", _percent),
            "accuracy_repeated": ("Accuracy % on repeated", _percent),
            "accuracy_new": ("on new", _percent),
            "accuracy_all": ("on all", _percent),
            "cost_points": ("All − new, points", signed),
            "between": ("95 % interval", str),
        },
        name="leak",
        title="What the repeated texts are worth",
        caption="Test documents whose text stands word by word (but for white space) in the "
        "training documents of their fold, against those whose text does not. The cost of the "
        "leak is accuracy on all less accuracy on new documents. It is what was observed, not an "
        "experiment: texts that repeat may be easier in other ways, too. Interval: bootstrap over "
        "groups of identical text.",
        sources=(source,),
        at_most=40,
    )
    return Section("duplicates", title, (sheet,))


def _costs(results: Results, study: Mapping[str, Any]) -> Section:
    folder = f"costs/{study['name']}"
    costs = results.table(f"{folder}/costs.csv")
    if costs is None:
        return _absent("costs", "What it costs", f"{folder}/costs.csv")
    figure = _picture(
        results,
        f"{folder}/front",
        "cost-front",
        "Accuracy against the seconds of one fit, one panel for each dataset. Filled markers lie "
        "on the front: no other row is as accurate and faster, or as fast and more accurate.",
        Source(f"{folder}/front.csv", "write_costs"),
    )
    table = Sheet(cost_table(costs, study), (Source(f"{folder}/costs.csv", "write_costs"),))
    return Section("costs", "What it costs", (*figure, table))


def _data(results: Results, study: Mapping[str, Any]) -> Section:
    rows, sources, pairs = [], [], []
    for dataset in study["datasets"]:
        file = f"corpora/{dataset['name']}/audit.json"
        path = results.path(file)
        if path is None:
            continue
        audit = storage.read_json(path)
        near = audit["near_duplicates"]
        by_class = audit["documents_by_class"]
        overlap = audit["split_overlap"]
        rows.append(
            {
                "dataset": dataset["title"],
                "protocol": dataset["protocol"],
                "documents": audit["documents"],
                "classes": ", ".join(f"{name} {count:,}" for name, count in by_class.items()),
                "left_out": sum(audit["left_out"].values()),
                "tokens": audit["length"]["tokens"]["median"],
                "tokens95": audit["length"]["tokens"]["95%"],
                "repeating": audit["duplicates"]["repeating_documents"],
                "near": near["documents"],
                "labels": audit["duplicates"]["documents_with_such_texts"],
                "leaked": None if overlap is None else overlap["test_documents"],
            }
        )
        sources.append(Source(file, "read_corpus"))
        pairs += [{"dataset": dataset["title"], **pair} for pair in near["examples"]]
    if not rows:
        return _absent("data", "The data", "corpora/")
    blocks = [
        sheet_of_frame(
            pd.DataFrame(rows, dtype=object),
            {
                "dataset": ("Dataset", None),
                "documents": ("Documents", _count),
                "classes": ("Classes", None),
                "left_out": ("Left out", _count),
                "tokens": ("Tokens, median", _count),
                "tokens95": ("95 %", _count),
                "repeating": ("Repeat an earlier text", _count),
                "near": ("Near-duplicates", _count),
                "labels": ("Texts with two labels", _count),
                "leaked": ("Test texts in training", _count),
                "protocol": ("Protocol", None),
            },
            name="data",
            title="The data, audited",
            caption="Tokens between white space. Repeat an earlier text: documents of the same "
            "text but for white space. Near-duplicates: documents that share at least 80 % of "
            "their word pairs with a document of another text. Texts with two labels: documents "
            "whose text stands under several classes. Test texts in training: under an official "
            "split.",
            sources=sources,
        )
    ]
    if pairs:
        blocks.append(
            sheet_of_frame(
                pd.DataFrame(pairs),
                {
                    "dataset": ("Dataset", None),
                    "a": ("Document", None),
                    "text_a": ("Text", None),
                    "b": ("Document", None),
                    "text_b": ("Text", None),
                    "similarity": ("Alike %", _percent),
                },
                name="near-duplicates",
                title="Some near-duplicates",
                caption="Pairs of documents of different text, the most alike of each dataset.",
                sources=sources,
                at_most=_MOST_ROWS,
            )
        )
    return Section("data", "The data", tuple(blocks))


def _environment(study: Mapping[str, Any], root: Path) -> Section:
    tags = provenance.code_tags(root)
    changed = " with uncommitted changes" if tags["git_dirty"] == "true" else ""
    lines = [
        f"Code: commit {tags['git_commit']}{changed}.",
        f"Packages: requirements.lock, sha256 {tags['lock']}." if "lock" in tags else "",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        + ".",
        f"Machine: {platform.system()} {platform.machine()}, {os.cpu_count()} processors.",
        "This is the state in which the page was written; "
        + (
            f"results/tracking/{study['name']}.json says which commit logged the runs."
            if study["tracking"] == "mlflow"
            else "the runs were not logged to MLflow."
        ),
    ]
    return Section("environment", "Environment", (Prose(tuple(filter(None, lines)), listed=True),))


def _reproduce(study: Mapping[str, Any]) -> Section:
    words = Prose(
        (
            "In a checkout of the commit above (make sets up the environment, every package "
            "pinned by its digest):",
        )
    )
    commands = Commands(("make .venv/.ready", ". .venv/bin/activate", study["command"]))
    note = Prose(
        (
            "The same study gives the same bytes on any number of cores, but for times. Each "
            "table and figure names its file and the rule that made it; a file that is deleted "
            "is made again by the same command.",
        )
    )
    return Section("reproduce", "How to reproduce", (words, commands, note))


def _picture(results: Results, stem: str, name: str, caption: str, source: Source) -> list[Block]:
    path, words = results.path(f"{stem}.svg"), results.path(f"{stem}.txt")
    if path is None or words is None:
        return []
    text = words.read_text(encoding="utf-8")
    return [Picture(f"figure-{name}", caption, path, text, (source,))]


def _absent(name: str, title: str, file: str) -> Section:
    return Section(name, title, absent=f"Not made in this study (no results/{file}).")


def _percent(fraction: float) -> str:
    return percent(fraction, 1)


def _points(fraction: float) -> str:
    return signed(100 * fraction)


def _three(number: float) -> str:
    return f"{number:.3f}"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"
