"""Tokenizers: nothing lost, Unicode-safe, options that do what they say."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.core.errors import UserError
from textbaselines.text.counts import count_tokens
from textbaselines.text.tokenizers import check_tokenizer, make_tokenizer, words
from textbaselines.text.tokens import BREAK, SENTENCE_END, encode, read_tokens, write_tokens
from textbaselines.text.wang_manning import READINGS


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # One-character tokens stay: digits, letters and marks.
        ("1 2", ["1", "2"]),
        ("I a b!", ["i", "a", "b", "!"]),
        ("Don't like it... :-( u.s.", ["don't", "like", "it", "...", ":-(", "u.s", "."]),
        # Combining marks do not split a word.
        ("తెలుగు भाषा हिन्दी", ["తెలుగు", "भाषा", "हिन्दी"]),
        # An accent of its own becomes one character with its letter.
        ("e\u0301cole", ["école"]),
        # Emoji with skin tone, joined emoji, flags and hearts with their selector are one each.
        ("👍🏽👨‍👩‍👧 🇫🇷 ❤️", ["👍🏽", "👨‍👩‍👧", "🇫🇷", "❤️"]),
        (":) ;-) <3 xD 8-)", [":)", ";-)", "<3", "xd", "8-)"]),
        ("(see 8) great:)", ["(", "see", "8", ")", "great", ":", ")"]),
        ("well-made 3.14 10,000", ["well-made", "3.14", "10,000"]),
        ("#tag @me http://x.y/z?a=1 end", ["#tag", "@me", "http://x.y/z?a=1", "end"]),
        ("Nope?! No!!!", ["nope", "?", "!", "no", "!!!"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


def test_words_options() -> None:
    assert words("Good Film.", lowercase=False) == ["Good", "Film", "."]
    assert words("Good. :) Bad!", punctuation="drop") == ["good", ":)", "bad"]
    assert words("Good. Bad", boundaries="sentence") == ["good", ".", SENTENCE_END, "bad"]
    # A dropped mark still ends its sentence.
    dropped = words("good. bad", punctuation="drop", boundaries="sentence")
    assert dropped == ["good", SENTENCE_END, "bad"]


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=40))
def test_words_lose_no_character(text: str) -> None:
    assert "".join(words(text, lowercase=False, normalise="none")) == text
    assert "".join(words(text, lowercase=False)) == unicodedata.normalize("NFC", text)


SAME_UNDER_NFC = [
    ("cafe\u0301", "café"),
    ("CAFE\u0301", "café"),
    ("ex\u00adam\u00adple", "example"),
    ("\ufefffilm", "film"),
    ("fi\u200blm", "film"),
    ("\u200efilm\u202c", "film"),
    ("fi\u2060lm", "film"),
    ("\u1112\u1161\u11ab", "한"),  # jamo
    ("J\u030c", "\u01f0"),  # only the small letter has a composed form
]


@pytest.mark.parametrize("family", ["words", "whitespace", "characters"])
@pytest.mark.parametrize(("text", "plain"), SAME_UNDER_NFC)
def test_spellings_that_look_the_same_are_one_token(family: str, text: str, plain: str) -> None:
    tokenizer = make_tokenizer({"family": family})
    assert tokenizer(text) == tokenizer(plain)
    assert "".join(tokenizer(plain)) == plain
    if family == "whitespace":  # words leave out invisible characters at their ends anyway
        as_it_is = make_tokenizer({"family": family, "normalise": "none"})
        assert as_it_is(text) == [text.lower()] != [plain]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("text", "plain"), SAME_UNDER_NFC)
def test_a_wang_manning_reading_normalises_on_demand_alone(
    reading: str, text: str, plain: str
) -> None:
    options = {"family": "wang_manning", "reading": reading}
    assert make_tokenizer(options)(text) == [text.lower()]
    if text != "J\u030c":  # composed only after the reading made it small
        assert make_tokenizer({**options, "normalise": "NFC"})(text) == [plain]


@pytest.mark.parametrize(
    ("form", "token"),
    [("NFC", "ﬁé"), ("NFD", "ﬁe\u0301"), ("NFKC", "fié"), ("NFKD", "fie\u0301"), ("none", "ﬁé")],
)
def test_normalisation_forms(form: str, token: str) -> None:
    assert words("ﬁé", normalise=form) == [token]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("می\u200cخواهم", ["می\u200cخواهم"]),  # Persian, with its zero-width non-joiner
        ("क्\u200dष", ["क्\u200dष"]),  # a conjunct of Devanagari held apart by a joiner
        ("👨\u200d👩\u200d👧", ["👨\u200d👩\u200d👧"]),
        ("❤\ufe0f", ["❤\ufe0f"]),
        # Between Thai words a zero-width space is a space.
        ("ไทย\u200bดี", ["ไทย", "ดี"]),
    ],
)
def test_joiners_and_word_breaks_keep_their_meaning(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens
    assert make_tokenizer({"family": "whitespace"})(text) == tokens


def test_characters() -> None:
    tokenizer = make_tokenizer({"family": "characters"})
    assert tokenizer("房间 很好！\nWi") == ["房", "间", "很", "好", "！", "w", "i"]
    assert tokenizer("हिन्दी 👍🏽") == ["हि", "न्दी", "👍🏽"]
    assert tokenizer(" \u3000 ") == []


@given(st.lists(st.sampled_from(["good", "film", "ok", "não", "भाषा"]), max_size=8))
def test_words_keep_plain_words(tokens: list[str]) -> None:
    assert words(" ".join(tokens)) == tokens
    assert make_tokenizer({"family": "whitespace"})(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    ("options", "place", "told"),
    [
        (
            {"family": "wrods"},
            "tokenizers.t.family",
            "one of words, whitespace, characters, wang_manning",
        ),
        (
            {"family": "words", "lowercas": True},
            "tokenizers.t.lowercas",
            "did you mean 'lowercase'",
        ),
        ({"family": "words", "punctuation": "no"}, "tokenizers.t.punctuation", "'keep', 'drop'"),
        ({"family": "wang_manning"}, "tokenizers.t", "reading"),
    ],
)
def test_faults_name_key_and_allowed_values(
    options: dict[str, object], place: str, told: str
) -> None:
    with pytest.raises(UserError) as error:
        check_tokenizer(options, "tokenizers.t")
    assert place in str(error.value)
    assert told in str(error.value)


def test_tokens_file_round_trip(tmp_path) -> None:
    lists = [["b", "a", SENTENCE_END, "b"], [], ["<UNK>", "é", "\ud800"]]
    tokens = encode(["x", "y", "z"], lists)
    assert tokens.types == sorted(tokens.types)
    assert tokens.ids[2] == BREAK
    write_tokens(tmp_path / "t.npz", tokens)
    again = read_tokens(tmp_path / "t.npz")
    assert again.documents == ["x", "y", "z"]
    assert again.types == tokens.types
    assert [again.of(row) for row in range(3)] == [["b", "a", "b"], [], ["<UNK>", "é", "\ud800"]]


def test_tokens_file_of_another_kind_is_refused(tmp_path) -> None:
    from textbaselines.core.storage import write_arrays

    write_arrays(tmp_path / "t.npz", other=encode(["x"], [["a"]]).ids)
    with pytest.raises(UserError, match="arrays are missing: documents"):
        read_tokens(tmp_path / "t.npz")


def test_encode_wants_a_list_for_each_document() -> None:
    with pytest.raises(ValueError, match="2 documents but 1"):
        encode(["x", "y"], [["a"]])


@pytest.mark.parametrize(
    "options",
    [
        {"family": "words"},
        {"family": "whitespace"},
        {"family": "characters"},
        {"family": "words", "normalise": "NFKC"},
        *({"family": "wang_manning", "reading": reading} for reading in READINGS),
    ],
)
@given(st.text(alphabet=st.sampled_from("ab \x00\t\n\x85\u2028\u00a0´.-"), max_size=12))
def test_no_token_looks_like_a_sentence_end(options: dict, text: str) -> None:
    tokens = make_tokenizer(options)(text)
    assert SENTENCE_END not in tokens
    encoded = encode(["d"], [tokens])
    counts = count_tokens(encoded, options, 1, 2)
    assert (counts.matrix.data > 0).all()
    assert not (encoded.ids < 0).any()
