"""Which documents train and which test, drawn once per dataset and shared by every method.

The table of folds has one row for each repeat and document: ``fold`` is the fold in which the
document is a test document, -1 when it never is, -2 when it neither trains nor tests. Training
documents of fold f are all others.

Hyper-parameters are chosen by inner folds: the training documents of each (repeat, fold) divided
once more. Their table has one row for each of these documents: ``inner`` is the inner fold in which
it validates, -1 when it never does.

No class is ever without training documents. One with fewer documents than folds (or distinct texts,
where these are kept together) tests in as many folds as it has documents, and one with a single
document never tests.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.study.class_placement import NEVER_TEST, Incidence, keep_in_training

LEFT_OUT = -2
OUTER = -1
"""In place of an inner fold: the division whose test documents make the results."""


@dataclass(frozen=True)
class Protocol:
    """How a dataset is divided.

    Attributes
    ----------
    kind : "cv", "split" or "halves"
        k stratified folds; the official split; random stratified halves, one for training.
    folds : int
        k, for ``cv``.
    repeats : int
        How many times folds or halves are drawn; 1 for ``split``.
    grouped : bool
        Keep documents of identical text on one side; under ``split``, test documents whose text
        stands in training are left out.
    inner : int
        The inner folds of each training part, which hyper-parameters are chosen by; 0 for none.
    """

    kind: str
    folds: int = 10
    repeats: int = 1
    grouped: bool = False
    inner: int = 0

    @property
    def caption(self) -> str:
        """The protocol in words, for a table's caption."""
        grouped = ", identical texts kept together" if self.grouped else ""
        if self.kind == "cv":
            repeats = "" if self.repeats == 1 else f", {self.repeats} repeats"
            return f"{self.folds}-fold stratified cross-validation{repeats}{grouped}"
        if self.kind == "halves":
            return f"{self.repeats} random stratified halves{grouped}"
        return f"official train/test split{grouped}"


class Division(NamedTuple):
    """One (repeat, fold, inner): which documents train and which test.

    With ``inner`` 0 and above the documents are those that train in (repeat, fold), and ``test``
    are those that validate; :data:`OUTER` is the division of all.
    """

    repeat: int
    fold: int
    inner: int
    training: NDArray[np.bool_]
    test: NDArray[np.bool_]

    @property
    def key(self) -> tuple[int, int, int]:
        """Its name: repeat, fold and inner fold."""
        return self.repeat, self.fold, self.inner


def draw_folds(
    corpus: pd.DataFrame, protocol: Protocol, dataset: str, max_documents: int | None = None
) -> pd.DataFrame:
    """Draw the folds of a dataset.

    Parameters
    ----------
    dataset : str
        The dataset's name; with the protocol's kind and the repeat it makes the seed.
    max_documents : int, optional
        Use only so many documents of each class (and split), drawn by the dataset's name; the
        others neither train nor test.

    Returns
    -------
    data frame with columns repeat, fold, id
        In the corpus's order within a repeat.

    Raises
    ------
    UserError
        When there is one class alone, no class has two documents (or distinct texts, if grouped),
        or the official split is missing or has no test document.
    """
    used = _sample(corpus, max_documents, dataset)
    n_documents = len(corpus)
    columns = []
    for repeat in range(protocol.repeats):
        column = np.full(n_documents, LEFT_OUT, dtype=np.int32)
        column[used] = _fold_column(corpus[used], protocol, dataset, repeat)
        columns.append(column)
    return pd.DataFrame(
        {
            "repeat": np.repeat(np.arange(protocol.repeats, dtype=np.int32), n_documents),
            "fold": np.concatenate(columns),
            "id": np.tile(corpus["id"].to_numpy(), protocol.repeats),
        }
    )


def draw_inner_folds(
    corpus: pd.DataFrame, folds: pd.DataFrame, protocol: Protocol, dataset: str
) -> pd.DataFrame:
    """Draw the inner folds of every (repeat, fold): stratified, grouped where the protocol is.

    Parameters
    ----------
    folds : data frame
        As :func:`draw_folds` returned it for the same corpus and protocol.
    protocol : Protocol
        Without inner folds the table has no rows.
    dataset : str
        The dataset's name; with the repeat and the fold it makes the seed.

    Returns
    -------
    data frame with columns repeat, fold, inner, id

    Raises
    ------
    UserError
        When no class has two documents (or distinct texts, if grouped) in a training part.
    """
    ids = corpus["id"].to_numpy()
    tables = [_no_inner_folds()]
    if protocol.inner:
        for division in divisions(folds, ids.tolist()):
            part = corpus[division.training]
            place = ("repeat", division.repeat, "fold", division.fold)
            seed = seed_from(dataset, "inner", protocol.inner, *place)
            part_of = f"repeat {division.repeat}, fold {division.fold}"
            where = f"dataset {dataset}, training documents of {part_of}"
            fix = "set protocol.inner to null, or use more folds or more documents"
            inner = _stratified(part, protocol.inner, protocol.grouped, seed, where, fix)
            tables.append(
                pd.DataFrame(
                    {
                        "repeat": np.full(len(part), division.repeat, dtype=np.int32),
                        "fold": np.full(len(part), division.fold, dtype=np.int32),
                        "inner": inner,
                        "id": ids[division.training],
                    }
                )
            )
    return pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]


def divisions(
    folds: pd.DataFrame, documents: list[str], inner_folds: pd.DataFrame | None = None
) -> Iterator[Division]:
    """Yield each division as masks over ``documents``, joined by document id.

    Each (repeat, fold) comes by itself, then, with ``inner_folds``, divided by its inner folds.

    Raises :class:`UserError` when the folds and the documents are not of the same corpus.
    """
    inner_of = {}
    if inner_folds is not None:
        inner_of = dict(iter(inner_folds.groupby(["repeat", "fold"])))
    place_of = pd.Index(documents)
    for repeat, rows in folds.groupby("repeat", sort=True):
        by_id = pd.Series(rows["fold"].to_numpy(), index=rows["id"].to_numpy())
        if len(by_id) != len(documents) or not by_id.index.is_unique:
            raise UserError(
                "the folds are not of this corpus",
                found=f"{len(by_id)} documents in the folds",
                expected=f"{len(documents)} documents, each once",
                fix="delete the dataset's folds file and run again",
            )
        try:
            fold_of = by_id.loc[documents].to_numpy()
        except KeyError as error:
            raise UserError(
                "a document has no fold",
                found=str(error),
                fix="delete the dataset's folds file and run again",
            ) from error
        used = fold_of != LEFT_OUT
        for fold in sorted(set(fold_of.tolist()) - {NEVER_TEST, LEFT_OUT}):
            test = fold_of == fold
            outer = Division(int(str(repeat)), int(fold), OUTER, used & ~test, test)
            yield outer
            if (outer.repeat, outer.fold) in inner_of:
                yield from _inner_divisions(outer, inner_of[outer.repeat, outer.fold], place_of)


def standing_in_training(folds: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """Return of each test document whether its text stands in the training documents of its fold.

    ``folds``: columns repeat, fold, id, as :func:`draw_folds` gives; ``groups``: the group of
    identical text of each document, by document id.

    Returns
    -------
    data frame with columns repeat, fold, id, group, repeated
        One row for each document that is tested in a repeat.
    """
    used = folds[folds["fold"] != LEFT_OUT]
    used = used.assign(group=used["id"].map(groups))
    everywhere = used.groupby(["repeat", "group"])["id"].transform("size")
    in_fold = used.groupby(["repeat", "fold", "group"])["id"].transform("size")
    tested = used.assign(repeated=everywhere > in_fold)[used["fold"] >= 0]
    return tested.reset_index(drop=True)


def train_test_overlap(tested: pd.DataFrame) -> dict[str, Any]:
    """Return how many test documents have a text that stands in the training part of their fold.

    ``tested``: what :func:`standing_in_training` returned.

    Returns
    -------
    dict
        ``tested``: test documents, each once for each repeat; ``repeated``: those whose text stands
        in training; ``share``: repeated / tested.
    """
    repeated = int(tested["repeated"].sum())
    share = repeated / len(tested) if len(tested) else 0.0
    return {"tested": len(tested), "repeated": repeated, "share": share}


def _inner_divisions(
    outer: Division, rows: pd.DataFrame, place_of: "pd.Index[str]"
) -> Iterator[Division]:
    inner_fold = np.full(len(place_of), LEFT_OUT, dtype=np.int32)
    places = place_of.get_indexer(pd.Index(rows["id"]))
    inner_fold[places] = rows["inner"].to_numpy()
    if (places < 0).any() or not np.array_equal(inner_fold != LEFT_OUT, outer.training):
        raise UserError(
            "the inner folds do not divide the training documents",
            where=f"repeat {outer.repeat}, fold {outer.fold}",
            found=f"{len(rows)} documents in the inner folds",
            expected=f"the {outer.training.sum()} training documents, each once",
            fix="delete the dataset's inner folds file and run again",
        )
    for inner in sorted(set(inner_fold.tolist()) - {NEVER_TEST, LEFT_OUT}):
        validating = inner_fold == inner
        yield Division(outer.repeat, outer.fold, inner, outer.training & ~validating, validating)


def _no_inner_folds() -> pd.DataFrame:
    numbers = {name: np.zeros(0, dtype=np.int32) for name in ("repeat", "fold", "inner")}
    return pd.DataFrame({**numbers, "id": pd.array([], dtype="str")})


def write_folds(path: str | Path, folds: pd.DataFrame) -> None:
    """Write the fold table as Parquet."""
    storage.write_parquet(path, folds)


def read_folds(path: str | Path) -> pd.DataFrame:
    """Read the fold table."""
    return storage.read_parquet(path)


def _sample(corpus: pd.DataFrame, max_documents: int | None, dataset: str) -> NDArray[np.bool_]:
    if max_documents is None:
        return np.ones(len(corpus), dtype=bool)
    order = np.random.default_rng(seed_from(dataset, "max_documents")).permutation(len(corpus))
    shuffled = corpus.iloc[order]
    rank = shuffled.groupby(["label", "split"]).cumcount()
    used = np.zeros(len(corpus), dtype=bool)
    used[order] = (rank < max_documents).to_numpy()
    return used


def _fold_column(
    corpus: pd.DataFrame, protocol: Protocol, dataset: str, repeat: int
) -> NDArray[np.int32]:
    if protocol.kind == "split":
        return _official(corpus, protocol, dataset)
    n_folds = protocol.folds if protocol.kind == "cv" else 2
    seed = seed_from(dataset, protocol.kind, n_folds, "repeat", repeat)
    fix = "use more documents of each class"
    fold_of = _stratified(corpus, n_folds, protocol.grouped, seed, f"dataset {dataset}", fix)
    if protocol.kind == "halves":
        fold_of[fold_of == 1] = NEVER_TEST
        if protocol.grouped:
            codes, units = _numbered(corpus, grouped=True)
            fold_of = keep_in_training(fold_of, codes, units, [0])
    return fold_of


def _stratified(
    corpus: pd.DataFrame, n_folds: int, grouped: bool, seed: int, where: str, fix: str
) -> NDArray[np.int32]:
    """Return the fold of each document: classes in proportion, shuffled by the seed.

    There are no more folds than the largest class has documents (or distinct texts).
    """
    # Here, for the many jobs that only read folds: this takes 0.2 s.
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    codes, units = _numbered(corpus, grouped)
    incidence = Incidence(codes, units)
    divided = ~np.isin(units, incidence.of_single_classes())
    sizes = Incidence(codes[divided], units[divided]).sizes
    n_folds = min(n_folds, int(sizes.max(initial=0)))
    unit = "distinct texts" if grouped else "documents"
    if len(incidence.sizes) < 2:
        raise UserError(
            "there is one class alone, and nothing to tell it from",
            where=where,
            found=f"{len(codes)} documents of class {corpus['label'].iloc[0]!r}"
            if len(codes)
            else "no documents",
            expected="two classes or more",
        )
    if n_folds == 0:
        raise UserError(
            f"no class has two {unit}, one to train and one to test",
            where=where,
            found=f"{len(incidence.sizes)} classes, {len(np.unique(units))} {unit}",
            expected=f"a class with two {unit} or more",
            fix=fix,
        )
    fold_of = np.full(len(corpus), NEVER_TEST, dtype=np.int32)
    rows = np.flatnonzero(divided)
    if n_folds == 1:  # every class has another text that always trains
        fold_of[rows] = 0
        return fold_of
    labels = corpus["label"].to_numpy()[rows]
    splitter: StratifiedGroupKFold | StratifiedKFold
    if grouped:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    else:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class with fewer documents than folds
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        groups = corpus["group"].to_numpy()[rows] if grouped else None
        for fold, (_, test) in enumerate(splitter.split(labels, labels, groups)):
            fold_of[rows[test]] = fold
    if grouped:
        fold_of = keep_in_training(fold_of, codes, units, range(n_folds), spread=True)
    return fold_of


def _numbered(corpus: pd.DataFrame, grouped: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers for the class and the unit of each document: its text's, or its own."""
    codes = pd.factorize(corpus["label"])[0].astype(np.int64)
    if grouped:
        return codes, pd.factorize(corpus["group"])[0].astype(np.int64)
    return codes, np.arange(len(corpus), dtype=np.int64)


def _official(corpus: pd.DataFrame, protocol: Protocol, dataset: str) -> NDArray[np.int32]:
    test = (corpus["split"] == "test").to_numpy()
    train = (corpus["split"] == "train").to_numpy()
    if not test.any() or not train.any() or not (test | train).all():
        raise UserError(
            "no official split",
            where=f"dataset {dataset}, protocol.kind",
            found=f"{train.sum()} train, {test.sum()} test, {(~(test | train)).sum()} neither",
            expected="every document in train or test, and some in each",
            fix="use protocol cv or halves, or a reader that gives the split",
        )
    fold_of = np.where(test, 0, NEVER_TEST).astype(np.int32)
    if protocol.grouped:
        in_training = corpus["group"].isin(set(corpus["group"][train])).to_numpy()
        fold_of[test & in_training] = LEFT_OUT
        if not (fold_of == 0).any():
            raise UserError(
                "the text of every test document stands in training",
                where=f"dataset {dataset}, protocol.grouped",
                found=f"{test.sum()} test documents, all of them left out",
                fix="set protocol.grouped to false",
            )
    if corpus["label"][train].nunique() < 2:
        raise UserError(
            "the training documents of the official split are of one class",
            where=f"dataset {dataset}, protocol.kind",
            found=f"class {corpus['label'][train].iloc[0]!r}",
            expected="two classes or more",
            fix="use protocol cv or halves",
        )
    return fold_of
