"""Portable models: the same answers as the fitted estimator, from raw text, through files."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textbaselines
from textbaselines.core.errors import UserError
from textbaselines.export import portable
from textbaselines.export.portable import PortableModel, make_model
from textbaselines.export.scorers import LinearScorer, scorer_of
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.text.counts import count_tokens
from textbaselines.text.features import fold_features
from textbaselines.text.reduction import make_reduction
from textbaselines.text.tokenizers import tokenize_all
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import feature_terms, fit_vocabulary
from textbaselines.text.weighting import WEIGHTINGS
from textbaselines.training.predictions import class_order

GOOD = """A warm, funny and well-made film.
I laughed, I cried, and I would watch it again!
The best thing I have seen this year :)
Every actor is in fine form; the writing is sharp.
It's a small film with a big heart. Do see it.
Not a dull minute... what a ride!
Charming from start to end, and never too long.
A rare thing: a sequel that is better than the first.
The music alone is worth the price 👍🏽
Don't miss it; it is a warm and clever film.
Great fun for old and young!! Great fun.
Sharp, funny, moving. I loved it <3""".splitlines()
BAD = """A dull, long and badly-made film.
I yawned, I slept, and I would not watch it again!
The worst thing I have seen this year :(
Every actor looks lost; the writing is flat.
It's a big film with no heart. Do not see it.
Not a bright minute... what a bore!
Tiresome from start to end, and far too long.
A common thing: a sequel that is worse than the first.
The music alone is enough to make you leave 👎
Miss it; it is a cold and stupid film.
No fun for old or young!! No fun.
Flat, dull, empty. I hated it""".splitlines()
FACTS = """The film runs for two hours and ten minutes.
It was shot in two towns, in spring.
The director made three films before this one.
The sequel comes out next year; the cast is the same.
Two of the actors are also the writers of the film.
The music was recorded in one week.
Tickets cost eight or ten, the price of a book.
The first film of the series had a run of nine weeks.
It is the third film of the year from this town.
The book has 310 pages, and the film leaves out half of them.
The credits name 42 people <UNK> and one dog.
It opens in May. It closes in June.""".splitlines()
ODD = [
    "",
    " ",
    "\n",
    "👩‍👩‍👧 👍🏽 😀😀",
    "unheard-of zzz qqq",
    "<UNK> film",
    "film " * 30,
    "\x00 film",
]

WORDS = {"family": "words"}
DICTIONARIES = [
    *itertools.product(
        [
            WORDS,
            {"family": "words", "punctuation": "drop", "boundaries": "sentence"},
            {"family": "whitespace", "lowercase": False},
        ],
        [("unk", 2), ("unk", 1), ("drop", 1), ("drop", 2)],
    ),
    *(
        ({"family": "wang_manning", "reading": reading}, ("drop", 1))
        for reading in ("spaces", "lines", "filtered_bigrams", "filtered")
    ),
]
LINEAR = [name for name in METHODS if name not in ("gnb", "gda", "elm", "ksvm", "gp", "gpr")]
NOT_LINEAR = [
    ("gnb", {}),
    ("gda", {"covariance": "shared"}),
    ("gda", {"covariance": "per_class", "shrinkage": 0.5}),
    ("elm", {"hidden": 7, "scale": 0.1, "ridge": 0.1, "draws": 2}),
    ("elm", {"hidden": 5, "activation": "sine"}),
    ("ksvm", {}),
    ("ksvm", {"kernel": "rbf"}),
    ("ksvm", {"kernel": "polynomial", "degree": 3, "C": 0.1}),
    ("gp", {"kernel": "rbf"}),
    ("gp", {"points": 6}),
    ("gp", {"points": 6, "approximation": "subset", "kernel": "rbf"}),
    ("gpr", {"noise": 0.1}),
    ("gpr", {"points": 6, "kernel": "rbf"}),
]
SVD = {"kind": "svd", "rank": 5}
# More than the defaults where that makes another kind of model.
POINTS = {"lr": {"C": 1.0, "bias": 10.0}, "svm": {"C": 1.0, "bias": 1.0}, "cnb": {"norm": True}}


def name_of(dictionary: tuple) -> str:
    options, (policy, min_count) = dictionary
    return "-".join([*map(str, options.values()), policy, str(min_count)])


class Trained:
    """A model trained on the even documents of some text, and the odd ones to try it on."""

    def __init__(
        self,
        texts: list[str],
        labels: np.ndarray,
        tokenizer: dict,
        unk: tuple[str, int],
        ngrams: tuple[int, int] = (1, 2),
        scope: str = "training",
    ) -> None:
        self.tokenizer, self.unk, self.ngrams, self.scope = tokenizer, unk, ngrams, scope
        self.training = np.arange(len(texts)) % 2 == 0
        self.labels = labels
        self.new = [text for text, used in zip(texts, self.training, strict=True) if not used]
        names = [str(number) for number in range(len(texts))]
        tokens = encode(names, tokenize_all(texts, tokenizer))
        self.counts = count_tokens(tokens, tokenizer, *ngrams)
        self.vocabulary = fit_vocabulary(tokens, self.training, *unk)

    def model(
        self, family: str, weighting: str, reduction: dict | None = None, more: dict | None = None
    ):
        """Return the fitted estimator, the features of the new texts, and the portable model."""
        features = fold_features(
            self.counts,
            self.vocabulary,
            self.training,
            ~self.training,
            weighting,
            self.scope,
            reduction,
            seed=1,
        )
        n_classes = len(set(self.labels.tolist()))
        numeric = "numeric_target" in METHODS[family].needs
        params = {**METHODS[family].default_fixed, **POINTS.get(family, {}), **(more or {})}
        target = self.labels[self.training]
        positive = None if numeric else n_classes - 1
        ((_, fitted),) = fit_grid(
            family, features.training, target, [params], positive=positive, seed=7
        )
        assert fitted.failure is None
        threshold = 0.5 if numeric else None
        frequency = np.bincount(target, minlength=n_classes)
        description = {
            "tie_order": [f"c{code}" for code in class_order(frequency, "majority")],
            "rating_threshold": threshold,
            "classes": [f"c{code}" for code in range(n_classes)],
            "family": family,
            "tokenizer": self.tokenizer,
            "ngrams": list(self.ngrams),
            "unk": dict(zip(("policy", "min_count"), self.unk, strict=True)),
            "weighting": weighting,
        }
        scorer = scorer_of(fitted.estimator, threshold)
        if reduction is not None:
            training = features.columns.apply(self.counts.matrix[self.training])
            weights = WEIGHTINGS[weighting]().fit(training).transform(training)
            scorer = scorer.through(make_reduction(reduction, 1).fit(weights).directions)
        made = make_model(
            description,
            self.counts,
            features.columns,
            self.vocabulary,
            features.weighting,
            scorer,
        )
        return fitted.estimator, features.test, made


def assert_equal_answers(estimator, features, model: PortableModel, texts: list[str]) -> None:
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(features)
        names = model.classes[::-1]
        order = class_order(estimator.class_frequency_, "majority")
        predicted = [names[code] for code in estimator.decide(scores, order)]
        scores = scores[:, ::-1] if scores.ndim == 2 else scores
    else:
        scores = estimator.predict(features) - 0.5
        predicted = [model.classes[int(score < 0)] for score in scores]
    np.testing.assert_allclose(model.scores(texts), scores, rtol=1e-10, atol=1e-10)
    assert model.predict(texts) == predicted
    assert model.has_probabilities == hasattr(estimator, "predict_proba")
    if model.has_probabilities:
        wanted = estimator.predict_proba(features)[:, ::-1]
        np.testing.assert_allclose(model.predict_proba(texts), wanted, rtol=1e-10, atol=1e-10)


def check_every_family(trained: Trained, folder: Path, families=LINEAR) -> None:
    for family, weighting in itertools.product(families, WEIGHTINGS):
        estimator, features, model = trained.model(family, weighting)
        model.save(folder)
        loaded = textbaselines.load(folder)
        assert_equal_answers(estimator, features, loaded, trained.new)
        assert (loaded.features(trained.new) != features).nnz == 0


@pytest.mark.parametrize("dictionary", DICTIONARIES, ids=name_of)
def test_answers_of_the_estimator_from_raw_text(dictionary: tuple, tmp_path: Path) -> None:
    texts = [text for pair in zip(GOOD, ODD + BAD, strict=False) for text in pair]
    texts += [text for pair in zip(BAD, ODD + FACTS, strict=False) for text in pair]
    labels = np.arange(len(texts)) // 3 % 2
    check_every_family(Trained(texts, labels, *dictionary), tmp_path)


@pytest.mark.parametrize("dictionary", DICTIONARIES[::3], ids=name_of)
def test_more_than_two_classes(dictionary: tuple, tmp_path: Path) -> None:
    texts = [*GOOD, *BAD, *FACTS]
    labels = np.repeat([0, 1, 2], 12)
    families = [name for name in LINEAR if "numeric_target" not in METHODS[name].needs]
    trained = Trained(texts, labels, *dictionary)
    check_every_family(trained, tmp_path, families)
    assert textbaselines.load(tmp_path).scores(trained.new).shape == (18, 3)


@pytest.mark.mirror
@pytest.mark.parametrize("dictionary", DICTIONARIES, ids=name_of)
def test_answers_of_the_estimator_on_reviews(
    dictionary: tuple, mirror: Path, tmp_path: Path
) -> None:
    sides = [
        (mirror / "rt-s" / f"rt-polarity.{side}").read_bytes().decode("latin-1").splitlines()[:60]
        for side in ("neg", "pos")
    ]
    check_every_family(Trained(sides[0] + sides[1], np.repeat([0, 1], 60), *dictionary), tmp_path)


@pytest.mark.parametrize("ngrams", [(1, 1), (2, 2), (1, 3), (2, 4)])
@pytest.mark.parametrize("scope", ["training", "corpus"])
@pytest.mark.parametrize("unk", [("unk", 2), ("drop", 1)])
def test_ngram_ranges_and_scopes(ngrams: tuple, scope: str, unk: tuple, tmp_path: Path) -> None:
    trained = Trained(GOOD + BAD, np.repeat([0, 1], 12), WORDS, unk, ngrams, scope)
    check_every_family(trained, tmp_path, ["nbsvm", "lr"])
    loaded = textbaselines.load(tmp_path)
    columns = fold_features(
        trained.counts, trained.vocabulary, trained.training, ~trained.training, "count", scope
    ).columns
    assert loaded.dictionary.terms() == feature_terms(trained.counts, columns, trained.vocabulary)


@pytest.mark.parametrize("family", ["svm", "lr", "ridge", "linreg"])
def test_a_reduction_is_folded_into_the_weights(family: str, tmp_path: Path) -> None:
    trained = Trained(GOOD + BAD, np.repeat([0, 1], 12), WORDS, ("unk", 2))
    estimator, features, model = trained.model(family, "tfidf", {"kind": "svd", "rank": 5})
    model.save(tmp_path)
    assert features.shape[1] == 5
    assert_equal_answers(estimator, features, textbaselines.load(tmp_path), trained.new)


def check_not_linear(trained: Trained, family: str, more: dict, folder: Path) -> None:
    for reduction in (None, SVD):
        if reduction is None and "dense" in METHODS[family].needs:
            continue
        for weighting in ("binary", "tfidf"):
            estimator, features, model = trained.model(family, weighting, reduction, more)
            model.save(folder)
            loaded = textbaselines.load(folder)
            assert_equal_answers(estimator, features, loaded, trained.new)
            alone = [loaded.scores([text])[0] for text in trained.new]
            np.testing.assert_allclose(alone, loaded.scores(trained.new), rtol=1e-10, atol=1e-10)
            assert loaded.predict([]) == []
            loaded.save(folder / "again")
            assert portable.model_digest(folder) == portable.model_digest(folder / "again")


@pytest.mark.parametrize(("family", "more"), NOT_LINEAR, ids=str)
def test_what_is_not_linear(family: str, more: dict, tmp_path: Path) -> None:
    numeric = "numeric_target" in METHODS[family].needs
    texts, labels = [*GOOD, *BAD], np.repeat([0, 1], 12)
    check_not_linear(Trained(texts, labels, WORDS, ("unk", 2)), family, more, tmp_path)
    if not numeric:
        three = Trained([*texts, *FACTS], np.repeat([0, 1, 2], 12), WORDS, ("drop", 1))
        check_not_linear(three, family, more, tmp_path)
        assert textbaselines.load(tmp_path).scores(three.new).shape == (18, 3)
    if family != "gnb":
        one = Trained(texts, np.zeros(24, dtype=int), WORDS, ("unk", 2))
        one.model(family, "binary", SVD, more)[2].save(tmp_path)
        assert textbaselines.load(tmp_path).predict(["film"]) == ["c0"]


@pytest.mark.mirror
@pytest.mark.parametrize(("family", "more"), NOT_LINEAR, ids=str)
def test_what_is_not_linear_on_reviews(
    family: str, more: dict, mirror: Path, tmp_path: Path
) -> None:
    sides = [
        (mirror / "rt-s" / f"rt-polarity.{side}").read_bytes().decode("latin-1").splitlines()[:60]
        for side in ("neg", "pos")
    ]
    trained = Trained(sides[0] + sides[1], np.repeat([0, 1], 60), WORDS, ("unk", 2))
    check_not_linear(trained, family, more, tmp_path)


def test_every_family_is_tried() -> None:
    assert {*LINEAR, *(family for family, _ in NOT_LINEAR)} == set(METHODS)


def test_random_weights_that_come_out_otherwise_are_refused(trained: Trained, tmp_path) -> None:
    trained.model("elm", "binary", SVD, {"hidden": 5})[2].save(tmp_path)
    described = json.loads((tmp_path / "model.json").read_text())
    _say(tmp_path, estimator={**described["estimator"], "seed": 8})
    with pytest.raises(UserError, match="this version of numpy"):
        textbaselines.load(tmp_path)


@pytest.fixture(scope="module")
def trained() -> Trained:
    return Trained(GOOD + BAD, np.repeat([1, 0], 12), WORDS, ("unk", 2))


@pytest.fixture(scope="module")
def model(trained: Trained) -> PortableModel:
    return trained.model("mnb", "binary")[2]


@given(st.lists(st.text(max_size=30), max_size=4))
@settings(max_examples=60, deadline=None)
def test_one_by_one_and_in_a_batch(model: PortableModel, texts: list[str]) -> None:
    together = model.scores(texts)
    alone = [model.scores([text])[0] for text in texts]
    assert together.shape == (len(texts),)
    np.testing.assert_array_equal(together, alone)


def test_scores_by_hand() -> None:
    # Classes of one document each: a a b against b c. MNB with alpha 1 on counts.
    trained = Trained(
        ["b c", "?", "a a b", "?"], np.array([0, 0, 1, 1]), WORDS, ("drop", 1), (1, 1)
    )
    _, _, model = trained.model("mnb", "count")
    wanted = {"a": np.log(3 / 6) - np.log(1 / 5), "b": np.log(2 / 6) - np.log(2 / 5)}
    assert model.scores(["a", "b", "A b zzz", ""]) == pytest.approx(
        [wanted["a"], wanted["b"], wanted["a"] + wanted["b"], 0.0]
    )
    assert model.classes == ["c1", "c0"]
    assert model.predict(["a", "c", ""]) == ["c1", "c0", "c1"]
    assert model.predict_proba([""]).tolist() == [[0.5, 0.5]]
    assert model.predict_proba(["b"])[0, 0] == pytest.approx(1 / (1 + 6 / 5))


def test_odd_texts(model: PortableModel) -> None:
    texts = [*ODD, "Great fun! " * 100_000]
    assert len(texts[-1]) > 1_000_000
    probabilities = model.predict_proba(texts)
    assert probabilities.shape == (len(texts), 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.predict([texts[-1]]) == ["c1"]
    assert model.predict([]) == []
    assert model.predict(pd.Series(["Great fun"], index=[7])) == ["c1"]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ("one text", "a list of texts"),
        (["a", None], "element 1"),
        (["a", float("nan")], "a missing value"),
        ([3], "int 3"),
        (pd.Series(["a", np.nan], dtype="str"), "element 1"),
    ],
)
def test_what_is_no_list_of_texts(model: PortableModel, texts, told: str) -> None:
    with pytest.raises(UserError, match=told.replace("[", r"\[")):
        model.predict(texts)


def test_a_family_without_probabilities(trained: Trained) -> None:
    _, _, model = trained.model("svm", "binary")
    with pytest.raises(UserError, match="'svm' has no probabilities"):
        model.predict_proba(["a"])
    calibrated = replace(model, description={**model.description, "calibration": {"slope": 2.0}})
    assert calibrated.predict_proba(["a"]).shape == (1, 2)
    with pytest.raises(UserError, match="'svm' has no probabilities of its own"):
        calibrated.predict_proba(["a"], calibrated=False)


@pytest.mark.parametrize("slope", [0.0, 1e-6, 0.3, 50.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_class_with_the_largest_calibrated_probability_is_the_predicted_one(
    n_classes: int, slope: float, tmp_path: Path
) -> None:
    texts = [*GOOD, *BAD, *FACTS][: 12 * n_classes]
    labels = np.repeat(range(n_classes), 12)
    trained = Trained(texts, labels, {"family": "words"}, ("unk", 1))
    asked = [*trained.new, "", "zzz", "good good good"]
    for family in LINEAR:
        if "numeric_target" in METHODS[family].needs and n_classes > 2:
            continue
        _, _, model = trained.model(family, "binary")
        described = {**model.description, "calibration": {"slope": slope}}
        replace(model, description=described).save(tmp_path)
        loaded = textbaselines.load(tmp_path)
        scores = loaded.scores(asked)
        if n_classes == 2:
            weights = np.column_stack([slope * scores, np.zeros(len(scores))])
        else:
            weights = slope * scores
        wanted = np.exp(weights - weights.max(axis=1, keepdims=True))
        wanted /= wanted.sum(axis=1, keepdims=True)
        found = loaded.predict_proba(asked)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
        for calibrated in (True, False)[: 1 + (model.scorer.probability is not None)]:
            found = loaded.predict_proba(asked, calibrated=calibrated)
            largest = [loaded.classes[place] for place in found.argmax(axis=1)]
            assert largest == loaded.predict(asked), family


def test_models_of_the_format_before_load_and_have_their_own_probabilities(
    trained: Trained, tmp_path: Path
) -> None:
    estimator, features, model = trained.model("mnb", "binary")
    model.save(tmp_path)
    _say(tmp_path, format=2)
    loaded = textbaselines.load(tmp_path)
    wanted = estimator.predict_proba(features)[:, ::-1]
    for calibrated in (True, False):
        found = loaded.predict_proba(trained.new, calibrated=calibrated)
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_the_same_bytes(trained: Trained, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        trained.model("nbsvm", "tfidf")[2].save(tmp_path / folder)
    for name in ("model.json", "arrays.npz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    portable.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a" / "arrays.npz").read_bytes() == (
        tmp_path / "c" / "arrays.npz"
    ).read_bytes()
    assert portable.model_digest(tmp_path / "a") == portable.model_digest(tmp_path / "b")


def test_the_digest_changes_with_the_weights(model: PortableModel, tmp_path: Path) -> None:
    model.save(tmp_path / "a")
    assert isinstance(model.scorer, LinearScorer)
    moved = replace(model.scorer, intercept=model.scorer.intercept + 1e-9)
    replace(model, scorer=moved).save(tmp_path / "b")
    assert portable.model_digest(tmp_path / "a") != portable.model_digest(tmp_path / "b")


def _without(folder: Path, name: str) -> None:
    arrays = dict(np.load(folder / "arrays.npz"))
    arrays.pop(name)
    np.savez(folder / "arrays.npz", **arrays)
    _say(folder, arrays=portable.storage.file_digest(folder / "arrays.npz"))


def _say(folder: Path, **changes) -> None:
    described = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(described | changes))


def _pickled(folder: Path) -> None:
    np.savez(folder / "arrays.npz", words=np.array([{"a": 1}], dtype=object))
    _say(folder, arrays=portable.storage.file_digest(folder / "arrays.npz"))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (shutil.rmtree, "no portable model"),
        (lambda folder: (folder / "model.json").unlink(), "no portable model"),
        (lambda folder: (folder / "arrays.npz").unlink(), "no file arrays.npz"),
        (lambda folder: (folder / "arrays.npz").write_bytes(b"PK"), "not the file"),
        (lambda folder: (folder / "model.json").write_text("{"), "not a JSON file"),
        (lambda folder: (folder / "model.json").write_text("[]"), "another format"),
        (lambda folder: _say(folder, format=1), "another format"),
        (lambda folder: _without(folder, "coefficients"), "'coefficients' is missing"),
        (_pickled, r"a damaged portable model(.|\n)*allow_pickle"),
        (lambda folder: _say(folder, classes=["a", "b", "c"]), "coefficients of shape"),
        (lambda folder: _say(folder, estimator={"beta": 1}), "a damaged portable model"),
        (lambda folder: _say(folder, failure="alpha"), "could not be fitted"),
        (lambda folder: _say(folder, tokenizer={"family": "x"}), "unknown tokenizer family"),
    ],
)
def test_a_damaged_folder(model: PortableModel, tmp_path: Path, damage, told: str) -> None:
    model.save(tmp_path / "m")
    damage(tmp_path / "m")
    with pytest.raises(UserError, match=told):
        textbaselines.load(tmp_path / "m")


def test_a_loaded_model_normalises_as_its_training_did(tmp_path: Path) -> None:
    texts = [
        "un cafe\u0301 noir",
        "un th\u00e9 froid",
        "\ufeffcaf\u00e9 noir",
        "th\u00e9 \u00adfroid",
    ]
    trained = Trained(
        [text for text in texts for _ in range(2)],  # one of the two trains
        np.repeat([1, 0, 1, 0], 2),
        {"family": "whitespace"},
        ("drop", 1),
    )
    model = trained.model("mnb", "binary")[2]
    model.save(tmp_path)
    loaded = textbaselines.load(tmp_path)
    assert loaded.description["tokenizer"] == {"family": "whitespace", "normalise": "NFC"}
    for either in (model, loaded):
        unknown, *same = either.scores(["", "caf\u00e9", "cafe\u0301", "\ufeffca\u00adf\u00e9"])
        assert len(set(same)) == 1
        assert same[0] > unknown
    # A model that does not say how it normalises was trained on texts as they were.
    _say(tmp_path, tokenizer={"family": "whitespace"})
    unknown, composed, apart = textbaselines.load(tmp_path).scores(["", "caf\u00e9", "cafe\u0301"])
    assert apart == unknown < composed


SCORES = st.sampled_from([0.0, 1e-17, -1e-17, 37.5, 54.9, 70.4, -800.0, 1e3, -1e6, 1e6])
SCORES |= st.floats(-1e6, 1e6)


@pytest.mark.parametrize("calibration", [None, {"slope": 0.3}])
@pytest.mark.parametrize("probability", ["softmax", "one_against_rest"])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_predicted_class_has_the_largest_probability(
    model: PortableModel, n_classes: int, probability: str, calibration, data
) -> None:
    names = [f"c{code}" for code in range(n_classes)]
    description = {"classes": names, "tie_order": data.draw(st.permutations(names))}
    if n_classes == 2:
        description["calibration"] = calibration
    scorer = replace(model.scorer, probability=probability)
    stored = replace(model, description=description, scorer=scorer)
    shape = (3, n_classes) if n_classes > 2 else (3,)
    drawn = data.draw(st.lists(SCORES, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    scores = np.array(drawn).reshape(shape)
    probabilities = stored.probabilities(scores)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-13)
    most = [stored.classes[column] for column in probabilities.argmax(axis=1)]
    assert most == stored.labels(scores)


def test_a_tie_of_a_stored_model_goes_as_its_record_says(model: PortableModel) -> None:
    for order in (["c0", "c1"], ["c1", "c0"]):
        stored = replace(model, description={"classes": ["c0", "c1"], "tie_order": order})
        assert stored.labels(np.array([0.0, 1.0, -1.0])) == [order[0], "c1", "c0"]
    three = replace(
        model,
        description={"classes": ["c0", "c1", "c2"], "tie_order": ["c1", "c2", "c0"]},
    )
    # Columns are c2, c1, c0.
    assert three.labels(np.array([[1.0, 1, 1], [1, 0, 1], [0, 0, 1]])) == ["c1", "c2", "c0"]
