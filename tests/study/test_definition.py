"""A study file becomes a study: defaults, per-dataset options, restrictions, and its refusals."""

from pathlib import Path
from typing import Any

import pytest

from textbaselines.core.errors import UserError
from textbaselines.study.definition import Study, make_study, read_study
from textbaselines.study.folds import Protocol

BASE: dict[str, Any] = {
    "name": "s",
    "title": "S",
    "datasets": ["rt-s", "imdb", "athr"],
    "tokenizers": {
        "wm": {
            "family": "wang_manning",
            "reading": "spaces",
            "per_dataset": {"imdb": {"reading": "filtered"}},
        },
        "words": {"family": "words"},
    },
    "representations": {
        "uni": {"tokenizer": "words", "ngrams": [1, 1], "weighting": "binary"},
        "bi": {
            "tokenizer": "wm",
            "ngrams": [1, 2],
            "weighting": "count",
            "unk": {"policy": "drop"},
            "datasets": ["rt-s"],
        },
    },
    "methods": {
        "MNB": {"family": "mnb", "grid": {"alpha": [0.1, 1]}},
        "SVM": {"family": "svm", "representations": ["uni"], "options": {"tol": 0.01}},
    },
}


@pytest.fixture
def make(repository: Path):
    def make(**changes: Any) -> Study:
        return make_study({**BASE, **changes}, "study.yaml", repository)

    return make


def test_defaults(make) -> None:
    study = make()
    uni = study.representations["uni"]
    assert (uni.policy, uni.min_count, uni.scope, uni.reduction) == ("unk", 2, "training", None)
    assert study.representations["bi"].min_count == 1
    (fixed, other) = study.methods["MNB"].points
    assert fixed.params["alpha"] == 1.0
    assert fixed.origin == ("fixed", "grid")
    assert other.params["alpha"] == 0.1
    svm = study.methods["SVM"].points[0].params
    # Every parameter is there, also those that nobody named.
    assert (svm["C"], svm["tol"], svm["loss"], svm["bias"]) == (0.1, 0.01, "squared_hinge", None)


def test_protocols_come_from_the_dataset_and_sizes_from_the_study(make) -> None:
    sizes = {"cv": {"folds": 5, "repeats": 2}, "halves": {"repeats": 3}}
    study = make(protocol={**sizes, "inner": {"folds": 4}})
    assert study.protocol("rt-s") == Protocol("cv", 5, 2, inner=4)
    assert study.protocol("imdb") == Protocol("split", 1, 1, inner=4)
    assert study.protocol("athr") == Protocol("halves", 2, 3, inner=4)
    grouped = make(protocol={"grouped": True}).protocol("rt-s")
    assert grouped == Protocol("cv", 10, 1, True, inner=5)
    assert make(protocol={"inner": None}).protocol("rt-s") == Protocol("cv", 10, 1)


@pytest.fixture
def gadgets(repository: Path, tmp_path: Path):
    """A study of one dataset with so many documents of each class, and folds of its own."""

    def gadgets(documents: dict[str, int], divided: str = "{kind: cv, folds: 3}", **changes: Any):
        files = "".join(
            f"  - name: {label}.txt\n    sources: [{{kind: mirror, name: {label}.txt, "
            f"sha256: {'0' * 64}}}]\n"
            for label in documents
        )
        labels = ", ".join(f"{label}.txt: {label}" for label in documents)
        counts = ", ".join(f"{label}: {count}" for label, count in documents.items())
        (tmp_path / "gadgets.yaml").write_text(
            "name: gadgets\ntitle: G\ncitation: c\nterms: t\nlanguage: en\n"
            f"files:\n{files}reader: {{kind: lines, labels: {{{labels}}}}}\n"
            f"encoding: {{name: utf-8}}\nclasses: [{', '.join(documents)}]\n"
            f"protocol: {divided}\nexpected: {{documents: {{{counts}}}}}\n"
        )
        base = {
            **BASE,
            "datasets": ["gadgets"],
            "dataset_folder": str(tmp_path),
            "tokenizers": {"words": {"family": "words"}},
            "representations": {"uni": BASE["representations"]["uni"]},
        }
        return make_study({**base, **changes}, "study.yaml", repository)

    return gadgets


def test_a_dataset_has_its_own_folds_unless_the_study_states_them(gadgets) -> None:
    many = {"praise": 30, "complaint": 20}
    own = gadgets(many)
    assert own.protocol("gadgets").folds == 3
    assert own.replaced_folds() == []
    assert gadgets(many, protocol={"cv": {"repeats": 4}}).protocol("gadgets").folds == 3
    assert gadgets(many, "{kind: cv}").protocol("gadgets").folds == 10
    stated = gadgets(many, protocol={"cv": {"folds": 5}})
    assert stated.protocol("gadgets").folds == 5
    assert stated.replaced_folds() == [
        "5 folds, as protocol.cv.folds of the study states, instead of those in the dataset files "
        "of gadgets (3)"
    ]
    assert own.notes() == stated.notes() == []


def test_the_shipped_studies_keep_their_folds(repository: Path) -> None:
    folds = {"config": 10, "duplicates": 10, "ratings": 5, "survey": 5, "wang_manning": 10}
    for name, wanted in folds.items():
        file = repository / "config" / f"{name}.yaml"
        study = read_study([file], {}, repository)
        of_cv = {study.protocol(dataset).folds for dataset in study.datasets} - {1, 2}
        assert of_cv == {wanted}
        assert study.notes() == []
        assert all("small class" not in one["protocol"] for one in study.description()["datasets"])


def test_small_classes_are_named_from_the_documents_stated(gadgets) -> None:
    study = gadgets({"a": 9, "b": 1, "c": 2, "d": 4}, "{kind: cv, folds: 4}")
    assert study.notes() == [
        "dataset gadgets: 2 classes have fewer documents than the 4 folds: b (1, always trains), c "
        "(2, tests in 2 of 4 folds); 3 classes have fewer documents in a training part than the 5 "
        "inner folds: b, c, d"
    ]
    (described,) = study.description()["datasets"]
    assert described["protocol"] == (
        "4-fold stratified cross-validation, 3 documents of 2 small classes in fewer folds (1 "
        "never tested)"
    )
    halves = gadgets({"a": 9, "b": 1}, "{kind: halves}", protocol={"inner": None})
    assert halves.notes() == [
        "dataset gadgets: 1 class has fewer documents than the two halves: b (1, always trains)"
    ]
    (described,) = halves.description()["datasets"]
    assert described["protocol"].endswith("halves, 1 document of 1 small class never tested")
    trial = gadgets({"a": 90, "b": 40}, "{kind: cv, folds: 30}", max_documents=20)
    assert trial.protocol("gadgets").folds == 20
    assert gadgets({"a": 3, "b": 2}, "{kind: cv, folds: 10}").notes()[0] == (
        "dataset gadgets: 3 folds instead of 10, for no class has more documents"
    )
    long = gadgets({"big": 500, **{f"c{number:03}": 1 for number in range(300)}})
    assert all(len(note) < 600 for note in long.notes())
    assert "and 292 more" in long.notes()[0]


def test_a_dataset_that_cannot_be_divided_is_refused_before_any_job(gadgets) -> None:
    with pytest.raises(UserError, match="no class has two documents"):
        gadgets({"a": 1, "b": 1})
    # Of two folds, one trains on a document of each class: nothing for inner folds to divide.
    with pytest.raises(UserError) as error:
        gadgets({"a": 3, "b": 2}, "{kind: cv, folds: 2}")
    assert "dataset gadgets, training documents of repeat 0, fold 0" in str(error.value)
    gadgets({"a": 3, "b": 2}, "{kind: cv, folds: 2}", protocol={"inner": None})
    gadgets({"a": 3, "b": 2}, "{kind: cv, folds: 3}")


def test_inner_folds_are_trained_on_where_there_is_something_to_choose(make) -> None:
    study = make()
    # MNB has a grid; SVM has one point, and of every dataset one representation.
    assert study.chooses("imdb", "MNB")
    assert not study.chooses("imdb", "SVM")
    assert study.description()["representations"][-1]["name"] == "selected"
    methods = {"SVM": {"family": "svm"}}
    both = make(methods=methods)
    assert both.chooses("rt-s", "SVM"), "it may choose between uni and bi"
    assert not both.chooses("imdb", "SVM"), "bi is for rt-s alone"
    fixed = make(methods=methods, protocol={"inner": None})
    assert not fixed.chooses("rt-s", "SVM")
    assert [one["name"] for one in fixed.description()["representations"]] == ["uni", "bi"]


def test_the_name_of_the_chosen_representation_is_taken(make) -> None:
    uni = BASE["representations"]["uni"]
    with pytest.raises(UserError, match=r"representations\.selected"):
        make(representations={"selected": uni}, methods={"M": {"family": "mnb"}})


def test_a_trial_stands_beside_no_published_numbers(repository: Path) -> None:
    file = repository / "config" / "wang_manning.yaml"
    whole = read_study([file], {}, repository)
    assert whole.file.tables.published is not None
    trial = read_study([file], {"max_documents": 30}, repository)
    assert trial.file.tables.published is None


def test_min_count_follows_the_policy(make) -> None:
    uni = BASE["representations"]["uni"]
    for policy, min_count in (("unk", 2), ("drop", 1)):
        study = make(
            representations={"uni": {**uni, "unk": {"policy": policy}}},
            methods={"M": {"family": "mnb"}},
        )
        assert study.representations["uni"].min_count == min_count


def test_defaults_and_grid_make_no_point_twice(make) -> None:
    for family, reduction in (("lr", None), ("cnb", None), ("gda", {"kind": "svd", "rank": 9})):
        uni = {**BASE["representations"]["uni"], "reduction": reduction}
        methods = {"M": {"family": family, "grid": "default"}}
        points = make(representations={"uni": uni}, methods=methods).methods["M"].points
        params = [tuple(sorted(point.params.items(), key=str)) for point in points]
        assert len(set(map(str, params))) == len(params)
        assert "grid" in points[0].origin, "the fixed point lies on the family's own grid"


@pytest.mark.parametrize(
    ("family", "found", "expected"),
    [
        ("mnb", "svd", "a representation without a reduction: uni, bi"),
        ("nbsvm", "svd", "a representation without a reduction: uni, bi"),
        ("gda", "uni", "a representation with a reduction: svd"),
    ],
)
def test_features_that_a_method_never_takes_are_refused(make, family, found, expected) -> None:
    reduced = {**BASE["representations"]["uni"], "reduction": {"kind": "svd", "rank": 9}}
    representations = {**BASE["representations"], "svd": reduced}
    methods = {"LR": {"family": "lr"}, "M": {"family": family}}
    with pytest.raises(UserError, match=f"family {family} takes") as told:
        make(representations=representations, methods=methods)
    assert told.value.where == "study.yaml, key methods.M"
    assert (told.value.found, told.value.expected) == (f"representation {found}", expected)
    able = ["svd"] if family == "gda" else ["uni", "bi"]
    methods["M"]["representations"] = able
    assert make(representations=representations, methods=methods).runs_of("rt-s")


def test_tokenizer_options_per_dataset(make) -> None:
    study = make()
    assert study.tokenizer("wm", "rt-s") == {"family": "wang_manning", "reading": "spaces"}
    assert study.tokenizer("wm", "imdb") == {"family": "wang_manning", "reading": "filtered"}


def test_options_for_a_dataset_left_out_today_do_no_harm(make) -> None:
    assert list(
        make(datasets=["cr"], representations={"uni": BASE["representations"]["uni"]}).datasets
    ) == ["cr"]


def test_restrictions(make) -> None:
    assert make().runs() == [
        ("rt-s", "uni", "MNB"),
        ("rt-s", "uni", "SVM"),
        ("rt-s", "bi", "MNB"),
        ("imdb", "uni", "MNB"),
        ("imdb", "uni", "SVM"),
        ("athr", "uni", "MNB"),
        ("athr", "uni", "SVM"),
    ]


def test_the_familys_own_grid(make) -> None:
    study = make(methods={"M": {"family": "nbsvm", "grid": "default", "options": {"C": 2.0}}})
    points = study.methods["M"].points
    assert {point.params["C"] for point in points} == {2.0}
    assert len({point.params["beta"] for point in points}) > 1


def changed(section: str, name: str, **changes: Any) -> dict[str, Any]:
    entries = dict(BASE[section])
    entries[name] = {**entries[name], **changes}
    return {section: entries}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"datasets": ["rt-s", "rt-s"]}, ["datasets", "occurs twice"]),
        ({"datasets": ["cr", "rts"]}, ["study.yaml, key datasets[1]", "'rts'", "mean 'rt-s'"]),
        ({"name": "a/b"}, ["key name", "'a/b'"]),
        ({"max_documents": 5}, ["max_documents", "20"]),
        (
            changed("representations", "bi", datasets=["cr"]),
            ["representations.bi.datasets", "'cr'"],
        ),
        (changed("methods", "SVM", representations=["tri"]), ["methods.SVM.representations"]),
        (changed("methods", "SVM", fixed=None), ["methods.SVM", "without fixed values"]),
        (changed("methods", "SVM", fixed={"C": 0}), ["methods.SVM (fixed)", "'C'"]),
        (changed("methods", "MNB", grid={"alpha": [0.1, -1]}), ["methods.MNB (grid)", "-1"]),
        (
            changed("representations", "bi", unk={"policy": "unk", "min_count": 2}),
            ["representations.bi.unk", "policy unk, min_count 2"],
        ),
        (
            changed("representations", "bi", ngrams=[1, 4]),
            ["representations.bi.ngrams", "[1, 4]", "[1, 3]"],
        ),
        (
            changed("tokenizers", "wm", per_dataset={"crr": {"reading": "lines"}}),
            ["tokenizers.wm.per_dataset.crr", "did you mean 'cr'"],
        ),
        (
            changed("tokenizers", "wm", per_dataset={"imdb": {"reading": "line"}}),
            ["tokenizers.wm.per_dataset.imdb.reading", "'lines'"],
        ),
        (changed("representations", "uni", reduction={"kind": "pca"}), ["reduction"]),
    ],
)
def test_refusals_name_the_key(make, changes: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(UserError) as error:
        make(**changes)
    for part in told:
        assert part in str(error.value)


def test_shipped_studies_are_valid(repository: Path) -> None:
    studies = {
        path.stem: read_study([path], {}, repository)
        for path in sorted((repository / "config").glob("*.yaml"))
        if "published" not in path.stem
    }
    assert set(studies) == {"config", "duplicates", "ratings", "survey", "wang_manning"}
    wang_manning = studies["wang_manning"]
    assert list(wang_manning.datasets) == list(studies["survey"].datasets)
    assert {
        (method, point.params["C"])
        for method in ("SVM", "NBSVM")
        for point in wang_manning.methods[method].points
    } == {("SVM", 0.1), ("NBSVM", 1.0)}
    assert wang_manning.protocol("rt-s") == Protocol("cv", 10, 10)
    assert wang_manning.protocol("athr") == Protocol("halves", 2, 20)


def test_overrides_replace_keys_of_the_file(repository: Path) -> None:
    file = repository / "config" / "config.yaml"
    study = read_study([file], {"max_documents": 30, "tracking": "none"}, repository)
    assert study.file.max_documents == 30
    assert study.name == "default-trial30"
    assert study.title.endswith("(TRIAL: 30 documents per class)")
    with pytest.raises(UserError, match="the command line"):
        read_study([file], {"trakcing": "none"}, repository)


def test_all_mistakes_come_at_once_with_their_lines(repository: Path, tmp_path: Path) -> None:
    """Faults of the schema, of names and values, of a dataset file and of paths, in one message."""
    own = tmp_path / "own"
    own.mkdir()
    shipped = (repository / "config" / "datasets" / "cr.yaml").read_text(encoding="utf-8")
    other = shipped.replace("name: cr", "name: mine", 1).replace("title:", "titel:", 1)
    (own / "mine.yaml").write_text(other, encoding="utf-8")
    file = tmp_path / "s.yaml"
    file.write_text(
        f"""\
name: s
title: S
datasets: [cr, rts, mine]
dataset_folder: {own}
max_documents: 5
tokenizers: {{words: {{family: words}}}}
representations:
  uni: {{tokenizer: words, ngrams: [1, 1], weighting: binarry}}
  bi: {{tokenizer: word, ngrams: [2, 1], weighting: binary}}
methods:
  MNB: {{family: mbn}}
  SVM:
    family: svm
    grid: {{C: [-1, 1, -2]}}
    representations: [uni]
  LR: {{family: lr, gird: {{}}}}
tables: {{published: config/wang_maning_published.yaml}}
mirror: {tmp_path / "onw"}
""",
        encoding="utf-8",
    )
    with pytest.raises(UserError) as error:
        read_study([file], {"trakcing": "none"}, repository, own)
    message = str(error.value)
    assert [one.where for one in error.value.each] == [
        "the command line, key trakcing",
        f"{file}, key max_documents (line 5)",
        f"{file}, key methods.LR.gird (line 16)",
        f"{file}, key representations.uni.weighting (line 8)",
        f"{file}, key datasets[1] (line 3)",
        f"{own / 'mine.yaml'}, key titel (line 4)",
        str(own / "mine.yaml"),
        f"{file}, key representations.bi.tokenizer (line 9)",
        f"{file}, key representations.bi.ngrams (line 9)",
        f"{file}, key methods.MNB.family (line 11)",
        f"{file}, key methods.SVM (grid), parameter 'C' (cost of a loss) (line 12)",
        f"{file}, key methods.SVM (grid), parameter 'C' (cost of a loss) (line 12)",
        f"{file}, key tables.published (line 17)",
        f"{file}, key mirror (line 18)",
    ]
    near = ("'tracking'", "'grid'", "'binary'", "'rt-s'", "'title'", "'words'", "'mnb'", f"{own}?")
    published = repository / "config" / "wang_manning_published.yaml"
    for part in (*near, f"{published}?"):
        assert f"did you mean {part}" in message, part
    assert message.startswith("14 mistakes\n\n1. unknown key 'trakcing'")


def test_more_mistakes_than_a_message_lists_are_counted(make) -> None:
    with pytest.raises(UserError) as error:
        make(**{f"key{number}": 1 for number in range(1000)})
    assert "1000 mistakes" in str(error.value)
    assert str(error.value).rstrip().endswith("... and 950 more")


def test_a_folder_of_ones_own_stands_beside_the_shipped_one(
    make, repository: Path, tmp_path: Path
) -> None:
    shipped = (repository / "config" / "datasets" / "cr.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(shipped.replace("name: cr", "name: mine", 1))
    both = make(datasets=["cr", "mine"], dataset_folder=str(tmp_path), **ONE_REPRESENTATION)
    assert both.datasets["mine"].path == tmp_path / "mine.yaml"
    assert both.datasets["cr"].path == repository / "config" / "datasets" / "cr.yaml"
    # A copy with another comment is the same dataset; one that says something else is not.
    (tmp_path / "cr.yaml").write_text("# a copy\n" + shipped)
    make(datasets=["cr"], dataset_folder=str(tmp_path), **ONE_REPRESENTATION)
    (tmp_path / "cr.yaml").write_text(shipped.replace("documents: {pos: 24", "documents: {pos: 23"))
    with pytest.raises(UserError, match="two different dataset files of the name 'cr'"):
        make(datasets=["cr"], dataset_folder=str(tmp_path), **ONE_REPRESENTATION)
    make(datasets=["mine"], dataset_folder=str(tmp_path), **ONE_REPRESENTATION)
    with pytest.raises(UserError, match=r"key dataset_folder[\s\S]*config/datasets\?"):
        make(datasets=["cr"], dataset_folder="config/dataset", **ONE_REPRESENTATION)


ONE_REPRESENTATION: dict[str, Any] = {
    "representations": {"uni": BASE["representations"]["uni"]},
    "tokenizers": {"words": {"family": "words"}},
}


def test_a_file_that_is_no_mapping_is_refused(repository: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("- a\n")
    with pytest.raises(UserError, match="must be a mapping"):
        read_study([file], {}, repository)


KEPT = {"dataset": "rt-s", "representation": "bi", "method": "MNB"}
KERNEL = {"family": "ksvm"}


def test_models_to_keep(make) -> None:
    study = make()
    assert (study.kept_models(), study.datasets_with_best()) == ([], ["rt-s", "imdb", "athr"])
    study = make(keep_models="none")
    assert (study.kept_models(), study.datasets_with_best()) == ([], [])
    study = make(keep_models=[KEPT])
    assert (study.kept_models(), study.datasets_with_best()) == ([("rt-s", "bi", "MNB")], [])


def test_all_models_are_those_with_a_fixed_point(make) -> None:
    methods = {
        **BASE["methods"],
        "K": KERNEL,
        "G": {"family": "lr", "fixed": None, "grid": "default"},
    }
    study = make(keep_models="all", methods=methods)
    assert study.kept_models() == [run for run in study.runs() if run[2] in ("MNB", "SVM", "K")]
    assert len(study.runs()) > len(study.kept_models())


def test_a_dataset_without_a_fixed_point_keeps_none(make) -> None:
    only_grid = {"G": {"family": "lr", "fixed": None, "grid": "default"}}
    assert make(methods=only_grid).datasets_with_best() == []


@pytest.mark.parametrize(
    ("kept", "methods", "told"),
    [
        ({**KEPT, "method": "MBN"}, {}, "did you mean 'rt-s bi MNB'"),
        ({**KEPT, "dataset": "imdb"}, {}, "imdb, bi, MNB"),
        (
            {**KEPT, "method": "G"},
            {"G": {"family": "lr", "fixed": None, "grid": "default"}},
            "fixed",
        ),
    ],
)
def test_models_that_cannot_be_kept(make, kept: dict, methods: dict, told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        make(keep_models=[KEPT, kept], methods={**BASE["methods"], **methods})
    assert "key keep_models[1]" in str(error.value)
    with pytest.raises(UserError, match="keep_models"):
        make(keep_models="some")


def test_two_rows_of_one_name_are_refused(make) -> None:
    names = dict.fromkeys(("a", "c-a"), BASE["representations"]["uni"])
    methods = {name: {"family": "mnb"} for name in ("b", "b-c")}
    with pytest.raises(UserError, match="same name") as caught:
        make(representations=names, methods=methods)
    assert "b-c-a: method b on c-a, method b-c on a" in str(caught.value)
