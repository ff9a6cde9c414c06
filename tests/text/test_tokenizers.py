"""Tokenizers: nothing lost, Unicode-safe, options that do what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.errors import UserError
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
        # Combining marks do not split a word; a decomposed accent stays with its letter.
        ("తెలుగు भाषा हिन्दी", ["తెలుగు", "भाषा", "हिन्दी"]),
        ("e\u0301cole", ["e\u0301cole"]),
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
    assert "".join(words(text, lowercase=False)) == text


@given(st.lists(st.sampled_from(["good", "film", "ok", "não", "भाषा"]), max_size=8))
def test_words_keep_plain_words(tokens: list[str]) -> None:
    assert words(" ".join(tokens)) == tokens
    assert make_tokenizer({"family": "whitespace"})(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    ("options", "place", "told"),
    [
        ({"family": "wrods"}, "tokenizers.t.family", "one of words, whitespace, wang_manning"),
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
    from textbaselines.storage import write_arrays

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
        *({"family": "wang_manning", "reading": reading} for reading in READINGS),
    ],
)
@given(st.text(alphabet=st.sampled_from("ab \x00\t\n\x85\u2028.-"), max_size=12))
def test_no_token_looks_like_a_sentence_end(options: dict, text: str) -> None:
    tokens = make_tokenizer(options)(text)
    assert SENTENCE_END not in tokens
    encoded = encode(["d"], [tokens])
    counts = count_tokens(encoded, options, 1, 2)
    assert (counts.matrix.data > 0).all()
    assert not (encoded.ids < 0).any()
