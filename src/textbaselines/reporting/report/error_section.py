"""What goes wrong: documents, labels, n-grams, confusions and the agreement of methods."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from textbaselines.reporting.figures.confusion_figure import (
    confusion_of_best,
    has_many_classes,
    most_confused,
)
from textbaselines.reporting.report.blocks import (
    Block,
    Format,
    Prose,
    Results,
    Section,
    Source,
    absent,
    picture_of,
    sheet_of_frame,
)
from textbaselines.reporting.report.formats import as_count, as_percent, three_decimals
from textbaselines.reporting.report.titles import named
from textbaselines.reporting.tables.comparison import signed

_MOST_ROWS = 25
_DATASET = {"dataset_title": ("Dataset", None)}
_DOCUMENT = {
    **_DATASET,
    "id": ("Document", None),
    "label": ("Label", None),
    "predicted": ("Predicted", None),
    "text": ("Text", None),
}


def errors(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the error analysis."""
    title = "What goes wrong"
    # A few of each dataset, not the first dataset alone.
    of_each = max(3, _MOST_ROWS // max(1, len(study["datasets"])))
    blocks: list[Block] = []
    for part in _PARTS:
        frame = results.table(f"analysis/{part.file}.csv")
        if frame is None:
            continue
        source = Source(f"analysis/{part.file}.csv", "analyse")
        prepared = part.prepare(named(frame, study)) if len(frame) else frame
        if prepared.empty:
            if part.nothing:
                blocks.append(Prose((f"{part.heading}: {part.nothing}",), (source,)))
            continue
        if part.name == "confused":
            blocks += picture_of(
                results,
                "figures/confusion",
                "confusion",
                "What is predicted as what: each line is a label, each column a predicted class. "
                "For each dataset it is the row that is right most often, with the test "
                "predictions of all repeats and folds pooled.",
                source,
            )
        blocks.append(
            sheet_of_frame(
                prepared,
                part.columns,
                name=part.name or part.file.replace("_", "-"),
                title=part.heading,
                caption=part.caption,
                sources=(source,),
                of_each=of_each if part.cut else None,
            )
        )
    if not blocks:
        return absent("errors", title, "analysis/hard_documents.csv")
    return Section("errors", title, tuple(blocks))


def _as_it_is(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _by_difficulty(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each dataset: documents that none, some, most, all methods get wrong."""
    rows = []
    for (dataset, methods), group in frame.groupby(["dataset_title", "methods"], sort=False):
        row = {"dataset_title": dataset, "methods": methods}
        classes = group.drop_duplicates("wrong_for").set_index("wrong_for")
        for name in ("none", "some", "most", "all"):
            # Of two methods none is one of most and not of all.
            known = name in classes.index
            row[name] = classes.loc[name, "wrong_for_documents"] if known else 0
            row[f"{name}_share"] = classes.loc[name, "wrong_for_share"] if known else 0.0
        rows.append(row)
    return pd.DataFrame(rows)


def _confusion_of_best(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each label, of the cell of each dataset that is right most often."""
    rows = []
    few = frame[~has_many_classes(frame)]
    for _, best in confusion_of_best(few).groupby("dataset", sort=False):
        for label, group in best.groupby("label", sort=False):
            ordered = group[group["predictions"] > 0].sort_values(
                "predictions", ascending=False, kind="stable"
            )
            own = group.loc[group["predicted"] == label, "share_of_label"].sum()
            told = ", ".join(
                f"{predicted} {as_count(count)} ({as_percent(share)} %)"
                for predicted, count, share in zip(
                    ordered["predicted"],
                    ordered["predictions"],
                    ordered["share_of_label"],
                    strict=True,
                )
            )
            first = group.iloc[0]
            shown = {"dataset_title": first["dataset_title"], "row": first["row"]}
            rows.append({**shown, "label": label, "right": own, "as": told})
    return pd.DataFrame(rows)


def _pairs_of_many(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the errors of the best cell of each dataset with more than two classes."""
    return most_confused(confusion_of_best(frame[has_many_classes(frame)]))


def _least_alike(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of methods of each dataset, those that agree least first."""
    place = frame["dataset"].map({name: at for at, name in enumerate(frame["dataset"].unique())})
    ordered = frame.assign(place=place).sort_values(["place", "kappa"], kind="stable")
    return ordered.assign(pair=ordered["row_a"] + " and " + ordered["row_b"])


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
    return pd.DataFrame(rows)


def _strongest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each class and measure, its strongest n-grams in one cell."""
    rows = []
    for _, group in frame.groupby(["dataset", "class", "by"], sort=False):
        ordered = group.sort_values("place", kind="stable").head(12)
        rows.append({**group.iloc[0].to_dict(), "strongest": ", ".join(map(str, ordered["ngram"]))})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Part:
    """One table of the section: its file, how its rows are made, and whether they are cut."""

    file: str
    heading: str
    caption: str
    columns: Mapping[str, tuple[str, Format | None]]
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = _as_it_is
    cut: bool = True
    nothing: str = ""  # why there may be nothing, as the end of a sentence
    name: str = ""  # where two tables are made from one file


_PARTS = (
    _Part(
        "hardness",
        "How many methods get a document wrong",
        "Documents by the number of methods that get them wrong in more than half of the repeats. "
        "Some: from one method to half of them. Most: more than half, but not all. If all methods "
        "get a document wrong, no choice among them can help.",
        {
            **_DATASET,
            "methods": ("Methods", as_count),
            "none": ("None", as_count),
            "none_share": ("%", as_percent),
            "some": ("Some", as_count),
            "some_share": ("%", as_percent),
            "most": ("Most", as_count),
            "most_share": ("%", as_percent),
            "all": ("All", as_count),
            "all_share": ("%", as_percent),
        },
        _by_difficulty,
        cut=False,
        nothing="left out, because no row has a result.",
    ),
    _Part(
        "confusion",
        "What is predicted as what",
        "For each dataset of two classes, the confusion matrix of the row that is right most "
        "often, with the test predictions of all repeats and folds pooled. For each label it has "
        "the share that is predicted right, and all predicted classes. The file has the matrices "
        "of all rows.",
        {
            **_DATASET,
            "row": ("Row", None),
            "label": ("Label", None),
            "right": ("Right %", as_percent),
            "as": ("Predicted as", None),
        },
        _confusion_of_best,
        cut=False,
    ),
    _Part(
        "confusion",
        "The most frequent confusions",
        "Documents of a label that are predicted as another class, and their share of the label. "
        "For each dataset with more than two classes it is the row that is right most often, with "
        "the test predictions of all repeats and folds pooled. The file has the matrices of all "
        "rows.",
        {
            **_DATASET,
            "row": ("Row", None),
            "label": ("Label", None),
            "predicted": ("Predicted as", None),
            "predictions": ("Predictions", as_count),
            "share_of_label": ("% of the label", as_percent),
        },
        _pairs_of_many,
        name="confused",
    ),
    _Part(
        "agreement",
        "Do the methods agree?",
        "Pairs of methods, those of each dataset that agree least first. Equal: the share of "
        "predictions that are the same. Kappa (Cohen 1960) subtracts what chance would give. Both "
        "wrong: the share that both get wrong, and beside it the share if the errors were "
        "independent. The more it is above that, the less a combination of the two can gain.",
        {
            **_DATASET,
            "pair": ("Methods", None),
            "equal": ("Equal %", as_percent),
            "kappa": ("Kappa", three_decimals),
            "both_wrong": ("Both wrong %", as_percent),
            "both_wrong_if_independent": ("if independent", as_percent),
        },
        _least_alike,
        nothing="left out, because no two methods of a dataset have results.",
    ),
    _Part(
        "hard_documents",
        "Documents that most methods get wrong",
        "The hardest documents of each dataset. Wrong: the share of all predictions. The file has "
        "more columns.",
        {**_DOCUMENT, "share_wrong": ("Wrong %", as_percent)},
        nothing="there are none.",
    ),
    _Part(
        "suspects",
        "Labels to check",
        "Every method is wrong on these documents in every repeat, and more confident than in half "
        "of its predictions. Such a label need not be wrong: irony looks the same. The file has "
        "more columns.",
        {**_DOCUMENT, "mean_confidence_rank": ("Confidence rank %", as_percent)},
        nothing="there are none.",
    ),
    _Part(
        "confident_errors",
        "The most confident errors, and why",
        "For the most accurate linear row of each dataset, the five n-grams that contributed most "
        "to the wrong class, with weight times value. The file has every n-gram.",
        {**_DOCUMENT, "because": ("Because of", None), "margin": ("Margin", three_decimals)},
        _gathered,
        nothing="left out, because no linear row without a reduction makes an error.",
    ),
    _Part(
        "ngrams",
        "The strongest n-grams of each class",
        "The twelve strongest n-grams by r, the log-count ratio of the class against the rest, and "
        "by w, the weight of the model, from the first fold's training documents. The file has the "
        "numbers.",
        {
            **_DATASET,
            "class": ("Class", None),
            "by": ("By", None),
            "strongest": ("Strongest n-grams", None),
        },
        _strongest,
        cut=False,
        nothing="left out, because the study has no linear row without a reduction.",
    ),
)
