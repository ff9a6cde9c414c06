"""Portable models: from raw text to a class, stored as JSON and plain arrays, loaded without code.

A folder holds ``model.json``, which says what the model is and how well it did, and ``arrays.npz``:
the dictionary, and what its scorer is made of (:mod:`textbaselines.export.scorers`).
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.export.scorers import Scorer, softmax_of, stored_scorer
from textbaselines.models.classifier import ProbabilisticClassifier, favoured, winners
from textbaselines.models.registry import METHODS
from textbaselines.text.counts import PADDING, Counts, count_tokens
from textbaselines.text.tokenising import tokenise
from textbaselines.text.tokenizers import make_tokenizer, with_normalisation
from textbaselines.text.vocabulary import UNK, ColumnMap, Vocabulary
from textbaselines.text.weighting import WEIGHTINGS, TfIdf, Weighting

FORMAT = 3
"""The version of the folder's format."""

_READ = (2, FORMAT)

_MODEL, _ARRAYS = "model.json", "arrays.npz"


@dataclass(frozen=True)
class NgramDictionary:
    """Features that are n-grams of known words.

    Attributes
    ----------
    words : list of str
        The known words, sorted by code point.
    parts : int32 array, shape (m, highest)
        The positions in ``words`` that make up each feature; ``len(words)`` for UNK,
        :data:`~textbaselines.text.counts.PADDING` after a shorter n-gram.
    """

    words: list[str]
    parts: NDArray[np.int32]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {word: position for position, word in enumerate(self.words)}

    @cached_property
    def _index(self) -> tuple[list[NDArray[np.int64]], NDArray[np.int32]]:
        # An n-gram is found part by part: level j holds, sorted, what the number of the first j - 1
        # parts and the j-th make together. The last number leads to the feature.
        levels = []
        begun = np.zeros(len(self.parts), dtype=np.int64)
        for part in self.parts.T:
            level, begun = np.unique(self._joined(begun, part), return_inverse=True)
            levels.append(level)
        feature = np.empty(len(self.parts), dtype=np.int32)
        feature[begun] = np.arange(len(self.parts), dtype=np.int32)
        return levels, feature

    @classmethod
    def of(cls, counts: Counts, columns: ColumnMap, vocabulary: Vocabulary) -> "NgramDictionary":
        """Return the dictionary of the features that training had."""
        assert counts.parts is not None
        known = np.flatnonzero(vocabulary.known)
        position = np.full(len(counts.types) + 1, len(known), dtype=np.int32)
        position[known] = np.arange(len(known), dtype=np.int32)
        position[-1] = PADDING  # counts.parts has -1 there
        parts = np.empty((columns.n_features, counts.parts.shape[1]), dtype=np.int32)
        kept = columns.target >= 0
        parts[columns.target[kept]] = position[counts.parts[kept]]
        return cls([counts.types[i] for i in known.tolist()], parts)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.parts)

    def columns(self, counts: Counts) -> ColumnMap:
        """Return the feature of each column of the counts of any texts."""
        assert counts.parts is not None
        # Under the policy "drop" no feature has UNK in it, so n-grams with it are left out.
        unk = len(self.words)
        position = np.array(
            [*(self._positions.get(word, unk) for word in counts.types), PADDING],
            dtype=np.int32,
        )
        found = np.ones(len(counts.parts), dtype=bool)
        begun = np.zeros(len(counts.parts), dtype=np.int64)
        levels, feature = self._index
        for level, part in zip(levels, position[counts.parts].T, strict=True):
            wanted = self._joined(begun, part)
            begun = np.searchsorted(level, wanted)
            begun[begun == len(level)] = 0
            found &= level[begun] == wanted if len(level) else False
        target = np.full(len(found), -1, dtype=np.int32)
        target[found] = feature[begun[found]]
        return ColumnMap(target, self.n_features)

    def terms(self) -> list[str]:
        """Return each feature as text, its words joined by a space."""
        words = [*self.words, UNK]
        return [
            " ".join(words[part] for part in row if part != PADDING) for row in self.parts.tolist()
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is stored."""
        words, offsets = storage.pack_strings(self.words)
        return {"words": words, "word_offsets": offsets, "parts": self.parts}

    def _joined(
        self, begun: NDArray[np.int64], part: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        # Parts run from PADDING to UNK.
        return np.asarray(begun * (len(self.words) + 2) + (part.astype(np.int64) + 1))


@dataclass(frozen=True)
class StringDictionary:
    """Features that are strings (Wang & Manning's, where a bigram is one string too)."""

    strings: list[str]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {string: position for position, string in enumerate(self.strings)}

    @classmethod
    def of(cls, counts: Counts, columns: ColumnMap) -> "StringDictionary":
        """Return the dictionary of the features that training had."""
        strings = counts.terms()
        return cls([strings[i] for i in np.flatnonzero(columns.target >= 0).tolist()])

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.strings)

    def columns(self, counts: Counts) -> ColumnMap:
        """Return the feature of each column of the counts of any texts."""
        found = [self._positions.get(string, -1) for string in counts.terms()]
        return ColumnMap(np.array(found, dtype=np.int32), self.n_features)

    def terms(self) -> list[str]:
        """Return each feature's string."""
        return self.strings

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is stored."""
        strings, offsets = storage.pack_strings(self.strings)
        return {"strings": strings, "string_offsets": offsets}


Dictionary = NgramDictionary | StringDictionary
"""Which feature each n-gram of a text is."""


@dataclass(frozen=True)
class PortableModel:
    """A trained model that takes raw text.

    Attributes
    ----------
    description : dict
        What ``model.json`` says: dataset, representation, method, parameters, tokenizer, UNK
        policy, what it was trained on, and the evaluation that the study made.
    dictionary : Dictionary
        m features.
    weighting : Weighting
        Fitted.
    scorer : Scorer
    """

    description: Mapping[str, Any]
    dictionary: Dictionary
    weighting: Weighting
    scorer: Scorer

    @property
    def classes(self) -> list[str]:
        """The classes as the dataset file lists them, the positive one first.

        The columns of :meth:`predict_proba` and, of more than two classes, :meth:`scores` are in
        this order.
        """
        return list(reversed(self._coded))

    @property
    def _coded(self) -> list[str]:
        """The classes by the code that they have in the scorer, the positive one last."""
        return list(self.description["classes"])

    @cached_property
    def _tie_order(self) -> list[int]:
        """The codes in the order in which they win ties; models without a record: ascending."""
        order = self.description.get("tie_order", self._coded)
        return [self._coded.index(name) for name in order]

    @property
    def has_probabilities(self) -> bool:
        """Whether the model says how probable a class is, by its method or by a calibration."""
        return self.scorer.probability is not None or self._slope is not None

    @property
    def _slope(self) -> float | None:
        calibration = self.description.get("calibration")
        return None if calibration is None else float(calibration["slope"])

    def features(self, texts: Iterable[str]) -> sp.csr_array:
        """Return the weighted features of n texts, shape (n, m).

        Raises
        ------
        UserError
            For one text where a list of them is wanted, or an element that is no text.
        """
        counts = _count(_texts(texts), self.description)
        known = self.dictionary.columns(counts).apply(counts.matrix)
        # scikit-learn's tf-idf refuses a matrix without rows.
        return self.weighting.transform(known) if known.shape[0] else known

    def scores(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the scores of n texts.

        Returns
        -------
        array of shape (n,) for up to two classes, otherwise (n, classes)
            Of two classes the positive one is predicted above 0. Of a regression: the rating less
            the description's ``rating_threshold``. Of more, in the order of ``classes``.
        """
        return self._turned(self.scorer.scores(self.features(texts)))

    def predict(self, texts: Iterable[str]) -> list[str]:
        """Return the class of each text."""
        return self.labels(self.scores(texts))

    def predict_proba(
        self, texts: Iterable[str], *, calibrated: bool = True
    ) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n, classes), in the order of ``classes``.

        The class that :meth:`predict` returns has the largest.

        Parameters
        ----------
        calibrated : bool
            Calibrated probabilities, or the method's own where the model has no calibration; with
            False always the method's own.

        Raises
        ------
        UserError
            When the method has none, and the model no calibration (or none is wanted).
        """
        if not (self.has_probabilities if calibrated else self.scorer.probability is not None):
            own = "" if calibrated else " of its own"
            family = self.description["family"]
            raise UserError(
                f"a model of method family {family!r} has no probabilities{own}",
                expected="a family that has: "
                + ", ".join(
                    name
                    for name, family in METHODS.items()
                    if issubclass(family.estimator, ProbabilisticClassifier)
                ),
                fix="use scores() and predict()",
            )
        return self.probabilities(self.scores(texts), calibrated=calibrated)

    def probabilities(
        self, scores: NDArray[np.float64], *, calibrated: bool = True
    ) -> NDArray[np.float64]:
        """Return the class probabilities of texts with these scores, shape (n, classes).

        With a calibration the softmax of the scores times its slope, which is one over the
        temperature of Guo et al. (2017, section 4.2). It was fitted to predictions of documents
        that did not train, and does not change which class is the most probable.
        """
        coded = self._turned(scores)
        if calibrated and self._slope is not None:
            coded = softmax_of(self._slope * coded)
        else:
            coded = self.scorer.probabilities(coded, len(self.classes))
        places = len(self.classes) - 1 - self._winners(scores)
        return favoured(coded[:, ::-1].copy(), places)

    def labels(self, scores: NDArray[np.float64]) -> list[str]:
        """Return the class with the largest score; of a tie the first of ``tie_order``."""
        return [self._coded[code] for code in self._winners(scores).tolist()]

    def _winners(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        return winners(self._turned(scores), self._tie_order)

    def _turned(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores in the order of ``classes`` by code, or the other way round."""
        return scores[:, ::-1].copy() if scores.ndim == 2 else scores

    def save(self, folder: str | Path) -> None:
        """Write ``arrays.npz`` and, last, ``model.json`` with its digest."""
        folder = Path(folder)
        arrays = {**self.dictionary.arrays(), **self.scorer.arrays()}
        if isinstance(self.weighting, TfIdf):
            arrays["idf"] = self.weighting.idf
        storage.write_arrays(folder / _ARRAYS, **arrays)
        storage.write_json(
            folder / _MODEL,
            {
                **self.description,
                "format": FORMAT,
                "features": self.dictionary.n_features,
                **self.scorer.settings(),
                "arrays": storage.file_digest(folder / _ARRAYS),
            },
        )


def make_model(
    description: Mapping[str, Any],
    counts: Counts,
    columns: ColumnMap,
    vocabulary: Vocabulary,
    weighting: Weighting,
    scorer: Scorer,
) -> PortableModel:
    """Return the model of what training made.

    Parameters
    ----------
    description : mapping
        At least ``classes`` (in the order of the scores), ``family``, ``tokenizer``, ``ngrams``
        and ``weighting``.
    counts, columns, vocabulary, weighting
        Of the training documents' corpus.
    """
    description = {**description, "tokenizer": with_normalisation(description["tokenizer"])}
    dictionary: Dictionary
    if counts.parts is None:
        dictionary = StringDictionary.of(counts, columns)
    else:
        dictionary = NgramDictionary.of(counts, columns, vocabulary)
    return PortableModel(description, dictionary, weighting, scorer)


def save_failure(folder: str | Path, description: Mapping[str, Any], reason: str) -> None:
    """Write a folder that says why there is no model; :func:`load` tells it."""
    folder = Path(folder)
    storage.write_arrays(folder / _ARRAYS)
    storage.write_json(folder / _MODEL, {**description, "format": FORMAT, "failure": reason})


def load(folder: str | Path) -> PortableModel:
    """Load a portable model; no code of the folder is run.

    Parameters
    ----------
    folder : path
        With ``model.json`` and ``arrays.npz``.

    Raises
    ------
    UserError
        When the folder holds no whole model of this format, or one that could not be fitted.
    """
    folder = Path(folder)
    described = read_description(folder)
    if "failure" in described:
        raise UserError(
            "there is no model: it could not be fitted",
            where=str(folder),
            found=described["failure"],
        )
    try:
        if storage.file_digest(folder / _ARRAYS) != described["arrays"]:
            raise _damaged(folder, f"{_ARRAYS} is not the file that {_MODEL} was written for")
    except FileNotFoundError as error:
        raise _damaged(folder, f"no file {_ARRAYS}") from error
    try:
        arrays = storage.read_arrays(folder / _ARRAYS)
    except UserError as error:
        raise _damaged(folder, f"{_ARRAYS}: {error.found}") from error
    try:
        return _from_arrays(described, arrays)
    except KeyError as error:
        raise _damaged(folder, f"{error} is missing") from error
    except (ValueError, TypeError) as error:
        raise _damaged(folder, f"{_ARRAYS}: {error}") from error


def read_description(folder: str | Path) -> dict[str, Any]:
    """Return what ``model.json`` in a folder says.

    Raises
    ------
    UserError
        When there is none, or not of this format.
    """
    path = Path(folder) / _MODEL
    if not path.is_file():
        raise UserError(
            "no portable model",
            where=str(folder),
            expected=f"a folder with {_MODEL} and {_ARRAYS}",
        )
    described = storage.read_json(path)
    version = described.get("format") if isinstance(described, dict) else None
    if version not in _READ:
        raise UserError(
            "a portable model of another format",
            where=f"{path}, key format",
            found=version,
            expected=" or ".join(map(str, _READ)),
            fix="make the model again with this version of textbaselines",
        )
    assert isinstance(described, dict)
    return described


def model_digest(folder: str | Path) -> str:
    """Return 32 hex digits that depend on all that the folder's model is and says."""
    # model.json has the digest of the arrays.
    return hashlib.sha256((Path(folder) / _MODEL).read_bytes()).hexdigest()[:32]


def _from_arrays(described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PortableModel:
    dictionary: Dictionary
    if "strings" in arrays:
        strings = storage.unpack_strings(arrays["strings"], arrays["string_offsets"])
        dictionary = StringDictionary(strings)
    else:
        words = storage.unpack_strings(arrays["words"], arrays["word_offsets"])
        dictionary = NgramDictionary(words, arrays["parts"])
    weighting: Weighting
    if described["weighting"] == "tfidf":
        weighting = TfIdf.with_idf(arrays["idf"])
    else:
        weighting = WEIGHTINGS[described["weighting"]]()
    scorer = stored_scorer(described, arrays, dictionary.n_features)
    # A model that does not say how text is normalised was trained on text as it was.
    tokenizer = {"normalise": "none", **described["tokenizer"]}
    make_tokenizer(tokenizer)
    return PortableModel({**described, "tokenizer": tokenizer}, dictionary, weighting, scorer)


def _damaged(folder: Path, found: str) -> UserError:
    return UserError(
        "a damaged portable model",
        where=str(folder),
        found=found,
        fix="copy or make the whole folder again",
    )


def _texts(texts: Iterable[Any]) -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise UserError(
            "one text where a list of texts is wanted", found=repr(texts[:60]), fix="give [text]"
        )
    listed = list(texts)
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            missing = text is None or (isinstance(text, float) and math.isnan(text))
            raise UserError(
                "an element that is no text",
                where=f"element {position}",
                found="a missing value" if missing else f"{type(text).__name__} {text!r}",
                expected="text; an empty one is allowed",
            )
    return listed


def _count(texts: Sequence[str], description: Mapping[str, Any]) -> Counts:
    names = [str(position) for position in range(len(texts))]
    tokens = tokenise(names, texts, description["tokenizer"])
    lowest, highest = description["ngrams"]
    return count_tokens(tokens, description["tokenizer"], lowest, highest)
