"""Which row is the most accurate, by how much, and how sure that is."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from textbaselines.core.storage import read_parquet
from textbaselines.evaluation.cells import INTERVAL, MAJORITY
from textbaselines.evaluation.selection import compared_cells
from textbaselines.evaluation.twins import JOINED, twins_everywhere
from textbaselines.reporting.figures.accuracy import chosen_how
from textbaselines.reporting.paper.claims import claims_table
from textbaselines.reporting.paper.fidelity import verdict_lines
from textbaselines.reporting.report.blocks import (
    Block,
    Prose,
    Results,
    Section,
    Sheet,
    Source,
    absent,
    picture_of,
    sheet_of_frame,
)
from textbaselines.reporting.report.findings import findings, headline
from textbaselines.reporting.report.formats import intervals, three_decimals
from textbaselines.reporting.report.titles import named, row_titles
from textbaselines.reporting.tables.comparison import MACRO_F1, comparison_tables, signed
from textbaselines.reporting.tables.contrast_tables import (
    across_table,
    contrast_table,
    omnibus_words,
    p_text,
    rank_table,
)
from textbaselines.reporting.tables.layout import Table


def answer(results: Results, study: Mapping[str, Any], cells: pd.DataFrame) -> Section:
    """Return the section that answers the question of the study."""
    pairs, contrasts = (results.table(f"significance/{one}.csv") for one in ("pairs", "contrasts"))
    sources = [Source("tables/comparison.csv", "write_tables")]
    if pairs is not None:
        sources += [Source(f"significance/{one}.csv", "compare") for one in ("pairs", "contrasts")]
    datasets = len(study["datasets"])
    # Rows that are one model on every dataset count once.
    of_methods = cells[cells["selection"] != MAJORITY]
    rows = len(of_methods[["method", "representation"]].drop_duplicates())
    if pairs is not None:
        everywhere = set(twins_everywhere(pairs).values())
        rows -= sum(len(group) - 1 for group in everywhere)
    question = (
        f"Which of {rows} rows (a method on a representation) is the most accurate on "
        f"{'this dataset' if datasets == 1 else f'these {datasets} datasets'}, by how much, and "
        "how sure is that?"
    )
    said = findings(cells, pairs, contrasts, study)
    blocks: list[Block] = [Prose((question,))]
    if short := headline(cells, pairs, study):
        blocks.append(Prose((short,), tuple(sources[:2])))
    blocks.append(Prose(tuple(said), tuple(sources), listed=True))
    ranks, omnibus = (results.table(f"significance/{one}.csv") for one in ("ranks", "omnibus"))
    if ranks is not None and omnibus is not None and datasets > 1:
        blocks.append(
            Prose(
                (_over_all(ranks, omnibus, study),),
                tuple(Source(f"significance/{o}.csv", "compare") for o in ("omnibus", "ranks")),
            )
        )
    declared = study["contrasts_declared"]
    caution = [
        "The row with the highest accuracy was picked by these very numbers, so its lead is "
        "optimistic. The "
        + (
            "declared comparisons are not."
            if declared
            else "comparisons with the first row are not, because they do not depend on the "
            "numbers."
        )
        + " If no difference is shown, there may still be one."
    ]
    if pairs is None:
        caution = [
            "No paired test was made. Two overlapping intervals do not mean that two rows are "
            "equal."
        ]
    blocks.append(Prose(tuple(caution)))
    return Section("answer", "The answer", tuple(blocks))


def _over_all(ranks: pd.DataFrame, omnibus: pd.DataFrame, study: Mapping[str, Any]) -> str:
    words = f"Over all datasets: {omnibus_words(omnibus)}"
    ranked = ranks.dropna(subset=["average_rank"])
    if len(ranked):
        first = ranked.sort_values("average_rank", kind="stable").iloc[0]
        titles = row_titles(study)
        title = JOINED.join(titles.get(name, name) for name in first["row"].split(JOINED))
        words += f" The best average rank is that of {title}, {first['average_rank']:.2f}."
    return words


def accuracy(results: Results, study: Mapping[str, Any], cells: pd.DataFrame) -> Section:
    """Return the section of the accuracies."""
    source = Source("tables/comparison.csv", "write_tables")
    overlap = results.path("evaluation/overlap.parquet")
    # What inner folds chose comes first, what has seen the test folds last.
    tables = comparison_tables(
        cells,
        study,
        decimals=study["tables"]["decimals"],
        interval=INTERVAL,
        overlap=None if overlap is None else read_parquet(overlap),
        selections=("nested", "fixed", "oracle"),
    )
    blocks: list[Block] = [Sheet(_short(table, study), (source,)) for table in tables]
    figure = picture_of(
        results,
        "figures/accuracy",
        "accuracy",
        "Accuracy with 95 % intervals, one panel for each dataset. "
        + chosen_how(set(compared_cells(cells)["selection"])),
        source,
    )
    first = 1 + any(table.name.endswith(MACRO_F1.name) for table in tables[1:2])
    return Section("accuracy", "Accuracy", (*blocks[:first], *figure, *blocks[first:]))


def difference(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the tests, on each dataset and over all of them."""
    title = "Is the difference real?"
    contrasts = results.table("significance/contrasts.csv")
    if contrasts is None:
        return absent("difference", title, "significance/contrasts.csv")
    source = Source("significance/contrasts.csv", "compare")
    if contrasts.empty:
        return Section("difference", title, absent="The study has one row: nothing to compare.")
    if not contrasts["p"].notna().any():
        why = "; ".join(map(str, (contrasts["failure"].dropna().unique()))) or "identical rows"
        return Section(
            "difference", title, (Prose((f"No comparison could be tested: {why}.",), (source,)),)
        )
    blocks: list[Block] = [
        Sheet(_short(contrast_table(contrasts, study), study), (source,)),
        _tests(contrasts, study),
    ]
    across, ranks, omnibus = (
        results.table(f"significance/{one}.csv") for one in ("across", "ranks", "omnibus")
    )
    if across is not None and ranks is not None and omnibus is not None:
        over_all = Source("significance/omnibus.csv", "compare")
        if len(study["datasets"]) == 1:
            words = "Tables over all datasets are left out: the study has one dataset."
            return Section("difference", title, (*blocks, Prose((words,), (over_all,))))
        blocks += [
            Sheet(
                _short(across_table(across, study), study),
                (Source("significance/across.csv", "compare"),),
            ),
            Sheet(
                _short(rank_table(ranks, omnibus, study), study),
                tuple(Source(f"significance/{o}.csv", "compare") for o in ("ranks", "omnibus")),
            ),
        ]
    nemenyi = results.table("significance/nemenyi.csv")
    if nemenyi is None or nemenyi.empty:
        why = "" if omnibus is None else f" {omnibus_words(omnibus)}"
        left_out = f"The diagram of critical differences is left out.{why}"
        return Section("difference", title, (*blocks, Prose((left_out,))))
    blocks += picture_of(
        results,
        "figures/critical-difference",
        "critical-difference",
        "Average ranks over the datasets. A bar joins rows that Nemenyi's test does not tell "
        "apart.",
        *(Source(f"significance/{o}.csv", "compare") for o in ("ranks", "omnibus", "nemenyi")),
    )
    return Section("difference", title, tuple(blocks))


def search(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the search for hyper-parameters."""
    file = "analysis/search.csv"
    figure = picture_of(
        results,
        "figures/search",
        "search",
        "How much search pays: the expected accuracy on the inner folds of the best of n points of "
        "the grid, drawn at random, against n (Dodge et al. 2019).",
        Source(file, "analyse"),
    )
    curves = results.table(file)
    if not figure or curves is None:
        return absent("search", "Hyper-parameters", file)
    if curves.empty:
        none = "No method of this study has more than one point, so nothing was searched."
        return Section("search", "Hyper-parameters", absent=none)
    return Section("search", "Hyper-parameters", tuple(figure))


def _tests(contrasts: pd.DataFrame, study: Mapping[str, Any]) -> Sheet:
    """Return every test of the contrasts side by side, with the effect sizes."""
    titles = row_titles(study)
    rows = named(contrasts[contrasts["p"].notna()], study)
    approximate = rows["mcnemar_approximate"]
    frame = pd.DataFrame(
        {
            "dataset": rows["dataset"],
            "dataset_title": rows["dataset_title"],
            "pair": rows["a"].map(titles) + " − " + rows["b"].map(titles),
            "difference": rows["difference_points"],
            "t_p": rows["t_p"],
            "mcnemar": [
                f"{p_text(p)}{' ≈' if rough else ''}"
                for p, rough in zip(rows["mcnemar_p"], approximate, strict=True)
            ],
            "bootstrap": intervals(rows["bootstrap_low_points"], rows["bootstrap_high_points"]),
            "p_holm": rows["p_holm"],
            "p_holm_study": rows["p_holm_study"],
            "g": rows["cohens_g"],
            "odds": rows["odds_ratio"],
            "d": rows["standardised_difference"],
        }
    )
    return sheet_of_frame(
        frame,
        {
            "pair": ("Comparison", None),
            "dataset_title": ("Dataset", None),
            "difference": ("Points", signed),
            "bootstrap": ("Bootstrap, 95 %", str),
            "t_p": ("p, corrected t", p_text),
            "mcnemar": ("p, McNemar", str),
            "p_holm": ("p, Holm, dataset", p_text),
            "p_holm_study": ("p, Holm, study", p_text),
            "g": ("Cohen's g", three_decimals),
            "odds": ("Odds ratio", _two_decimals),
            "d": ("Standardised", three_decimals),
        },
        name="tests",
        title="The same comparisons by every test, with effect sizes",
        caption="The p-values of the corrected resampled t and of exact McNemar on the pooled "
        "predictions are not adjusted. The test that decides (t where there are folds, otherwise "
        "McNemar) is adjusted by Holm's method over the dataset and over the study. ≈: "
        "approximate, because under cross-validation McNemar's test takes the predictions of all "
        "folds as those of one model. Bootstrap: of whole groups of identical text, with the "
        "models as given. Cohen's g and the odds ratio compare the documents that only the first "
        "and only the second row gets right. Standardised: mean divided by standard deviation of "
        "the difference per document. The file of all pairs has the same numbers for every two "
        "rows.",
        sources=tuple(
            Source(f"significance/{one}.csv", "compare") for one in ("contrasts", "pairs")
        ),
        of_each=max(6, 60 // max(1, len(study["datasets"]))),
    )


def paper(results: Results, study: Mapping[str, Any]) -> Section | None:
    """Return the section of the published values and claims, where the study has them."""
    fidelity = results.table("tables/fidelity.csv")
    claims = results.table("tables/claims.csv")
    if fidelity is None or claims is None:
        return None
    source = Source("tables/fidelity.csv", "write_paper_tables")
    lines = tuple(verdict_lines(fidelity))
    verdict = Prose(tuple(f"Published values: {line}." for line in lines), (source,), listed=True)
    judged = Sheet(
        claims_table(claims, study),
        tuple(
            Source(f"tables/{one}.csv", "write_paper_tables")
            for one in ("claim_verdicts", "claims")
        ),
    )
    return Section("paper", "The paper", (verdict, judged))


def _short(table: Table, study: Mapping[str, Any]) -> Table:
    """Return the table without the study's title in its own, which the page has above."""
    rest = table.title.removeprefix(study["title"])
    if rest in ("", table.title):
        return table
    title = rest.strip(" :()")
    return replace(table, title=title[:1].upper() + title[1:])


def _two_decimals(number: float) -> str:
    return f"{number:.2f}"
