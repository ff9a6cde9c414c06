"""Which comparisons a study declares."""

import pytest

from textbaselines.core.errors import UserError
from textbaselines.study.contrasts import Contrast, declare
from textbaselines.study.study_file import Control, Pair

RUNS = [
    ("cr", "uni", "MNB"),
    ("cr", "bi", "MNB"),
    ("cr", "bi", "SVM"),
    ("imdb", "bi", "MNB"),
    ("imdb", "bi", "SVM"),
]
ROWS = [("MNB", "uni"), ("MNB", "bi"), ("SVM", "bi")]


def declared(wanted):
    if isinstance(wanted, dict):
        wanted = Control(**wanted)
    elif wanted is not None:
        wanted = [Pair(**pair) for pair in wanted]
    return declare(wanted, RUNS, ROWS, "study.yaml, key contrasts")


def test_without_a_word_every_row_is_compared_with_the_first_that_all_datasets_have():
    found = declared(None)
    assert found.by_default
    assert found.control == "MNB-bi"
    assert found.contrasts == (Contrast("MNB-uni", "MNB-bi"), Contrast("SVM-bi", "MNB-bi"))


def test_a_control_and_a_list():
    found = declared({"control": "SVM-bi"})
    assert found.control == "SVM-bi"
    assert not found.by_default
    assert [contrast.a for contrast in found.contrasts] == ["MNB-uni", "MNB-bi"]
    found = declared([{"a": "SVM-bi", "b": "MNB-uni"}])
    assert found == (None, (Contrast("SVM-bi", "MNB-uni"),), False)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"control": "SVM-by"}, ("contrasts.control", "'SVM-by'", "did you mean", "SVM-bi")),
        ([{"a": "MNB-uni", "b": "x"}], ("contrasts[0].b", "'x'")),
        ([{"a": "MNB-uni", "b": "MNB-uni"}], ("contrasts[0]", "with itself")),
        (
            [{"a": "MNB-uni", "b": "MNB-bi"}, {"a": "MNB-bi", "b": "MNB-uni"}],
            ("contrasts[1]", "declared twice"),
        ),
    ],
)
def test_refusals_name_the_key_and_the_value(wanted, words):
    with pytest.raises(UserError) as refused:
        declared(wanted)
    for word in words:
        assert word in str(refused.value)


def test_a_name_that_two_rows_share_is_refused():
    with pytest.raises(UserError, match="share"):
        declare(Control(control="A-b-c"), [], [("A", "b-c"), ("A-b", "c"), ("D", "c")], "k")
