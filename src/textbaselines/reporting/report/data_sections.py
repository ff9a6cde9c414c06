"""The data: its audit, and what train-test overlap is worth."""

from collections.abc import Mapping
from typing import Any

from textbaselines.evaluation.selection import ACROSS, compared_cells
from textbaselines.reporting.figures.accuracy import chosen_how
from textbaselines.reporting.report.blocks import (
    Block,
    Format,
    Prose,
    Results,
    Section,
    Source,
    absent,
    sheet_of_frame,
)
from textbaselines.reporting.report.formats import as_count, as_percent, intervals
from textbaselines.reporting.report.titles import named
from textbaselines.reporting.tables.comparison import signed


def duplicates(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the repeated texts."""
    title = "Repeated texts"
    beside = _grouped(results, study)
    file = "analysis/train_test_overlap.csv"
    leak = results.table(file)
    if leak is None:
        return absent("duplicates", title, file)
    source = Source(file, "analyse")
    if leak.empty:
        none = "No test document has its text, word by word, in the training documents of its fold."
        return Section("duplicates", title, (Prose((none,), (source,)), *beside))
    shown = leak[(leak["representation"] != ACROSS) & leak["cost_points"].notna()]
    if shown.empty:
        none = (
            "No row has both test documents with repeated texts and test documents with new ones."
        )
        return Section("duplicates", title, (Prose((none,), (source,)), *beside))
    shown = named(shown, study)
    shown["between"] = intervals(shown["cost_low_points"], shown["cost_high_points"])
    sheet = sheet_of_frame(
        shown.sort_values("cost_points", ascending=False, kind="stable"),
        {
            "row": ("Row", None),
            "dataset_title": ("Dataset", None),
            "share_repeated": ("Repeated %", as_percent),
            "accuracy_repeated": ("Accuracy % on repeated", as_percent),
            "accuracy_new": ("on new", as_percent),
            "accuracy_all": ("on all", as_percent),
            "cost_points": ("All − new, points", signed),
            "between": ("95 % interval", str),
        },
        name="leak",
        title="What train-test overlap is worth",
        caption="Repeated: test documents whose text is also, word by word (except for white "
        "space), in the training documents of their fold. New: all others. The cost of the overlap "
        "is accuracy on all minus accuracy on new documents. This is an observation, not an "
        "experiment: texts that repeat may be easier in other ways, too. Interval: bootstrap over "
        "groups of identical text.",
        sources=(source,),
        at_most=40,
    )
    return Section("duplicates", title, (*beside, sheet))


def _grouped(results: Results, study: Mapping[str, Any]) -> tuple[Block, ...]:
    """Return the table of plain and grouped accuracy, where the study has both."""
    file = "analysis/grouped.csv"
    compared = results.table(file)
    if compared is None or compared.empty:
        return ()
    # Of each row what is compared elsewhere: chosen by inner folds where it is, else fixed.
    shown = named(compared_cells(compared), study)
    how = chosen_how(set(shown["selection"]))
    shown["between"] = intervals(shown["cost_low_points"], shown["cost_high_points"])
    return (
        sheet_of_frame(
            shown.sort_values("cost_points", ascending=False, kind="stable"),
            {
                "row": ("Row", None),
                "dataset_title": ("Dataset", None),
                "accuracy": ("Plain accuracy %", as_percent),
                "accuracy_grouped": ("Grouped %", as_percent),
                "cost_points": ("Plain − grouped, points", signed),
                "between": ("95 % interval", str),
            },
            name="grouped",
            title="Grouped folds compared with plain folds",
            caption="Every method is trained twice: on the study's folds, and on the same folds "
            "with each repeated text moved to where its first document is (under an official "
            f"split: without the test documents whose text is in training). {how} Interval: "
            "bootstrap over groups of identical text. Datasets without such texts are not shown.",
            sources=(Source(file, "analyse"),),
            at_most=40,
        ),
    )


_ODD: dict[str, tuple[str, Format | None]] = {
    "replacement_characters": ("Documents with U+FFFD", as_count),
    "control_characters": ("With control characters", as_count),
    "skipped_members": ("Desktop files", as_count),
    "near_duplicates_not_settled": ("Near-duplicates not settled", as_count),
}


def data(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the data audit."""
    file = "tables/data.csv"
    found = results.table(file)
    if found is None:
        return absent("data", "The data", file)
    titles = {entry["name"]: entry["title"] for entry in study["datasets"]}
    protocols = {entry["name"]: entry["protocol"] for entry in study["datasets"]}
    blocks = [
        sheet_of_frame(
            found.assign(
                title=found["dataset"].map(titles), protocol=found["dataset"].map(protocols)
            ),
            {
                "title": ("Dataset", None),
                "documents": ("Documents", as_count),
                "classes": ("Classes", None),
                "left_out": ("Left out", as_count),
                "median_tokens": ("Tokens, median", as_count),
                "tokens_95": ("95 %", as_count),
                "repeating_documents": ("Repeat an earlier text", as_count),
                "near_duplicates": ("Near-duplicates", as_count),
                "documents_of_two_labels": ("Texts with two labels", as_count),
                "test_texts_in_training": ("Test texts in training", as_count),
                "protocol": ("Protocol", None),
            },
            name="data",
            title="The data, audited",
            caption="Tokens are separated by white space. Repeat an earlier text: documents with "
            "the same text except for white space and Unicode normalisation. Near-duplicates: "
            "documents that share at least 80 % of their word pairs with a document of another "
            "text. Texts with two labels: documents whose text appears under several classes. Test "
            "texts in training: under an official split.",
            sources=(Source(file, "write_tables"),),
        )
    ]
    odd = found[(found[list(_ODD)] > 0).any(axis=1)]
    if len(odd):
        blocks.append(
            sheet_of_frame(
                odd.assign(title=odd["dataset"].map(titles)),
                {"title": ("Dataset", None), **_ODD},
                name="odd",
                title="What is odd in the data",
                caption="Documents with U+FFFD have a character that could not be decoded. Control "
                "characters may mean a wrong encoding. Desktop files are those that macOS and "
                "Windows add to an archive (._*, .DS_Store, Thumbs.db and similar); none is read. "
                "Near-duplicates not settled: documents without a known near-duplicate whose "
                "template is shared by so many texts that not all were compared. Datasets that "
                "have none of these are not listed.",
                sources=(Source(file, "write_tables"),),
            )
        )
    file = "tables/near_duplicates.csv"
    pairs = results.table(file)
    if pairs is not None and len(pairs):
        blocks.append(
            sheet_of_frame(
                pairs.assign(dataset=pairs["dataset"].map(titles)),
                {
                    "dataset": ("Dataset", None),
                    "a": ("Document", None),
                    "text_a": ("Text", None),
                    "b": ("Document", None),
                    "text_b": ("Text", None),
                    "similarity": ("Similarity %", as_percent),
                },
                name="near-duplicates",
                title="Some near-duplicates",
                caption="Pairs of documents with different text, the most similar of each dataset. "
                "MinHash finds them, and each is measured exactly.",
                sources=(Source(file, "write_tables"),),
                of_each=max(2, 25 // len(found)),
            )
        )
    return Section("data", "The data", tuple(blocks))
