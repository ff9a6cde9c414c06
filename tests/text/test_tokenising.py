"""Tokenising by distinct pieces: to the last id what the tokenizer says of each whole text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbaselines.datasets.normalisation import FORMS
from textbaselines.text import tokenising
from textbaselines.text.tokenising import tokenise
from textbaselines.text.tokenizers import tokenize_all
from textbaselines.text.tokens import encode
from textbaselines.text.wang_manning import READINGS

TOKENIZERS = [
    {"family": "words"},
    {"family": "words", "lowercase": False},
    {"family": "words", "punctuation": "drop", "boundaries": "sentence"},
    {"family": "words", "boundaries": "sentence"},
    {"family": "whitespace"},
    {"family": "whitespace", "lowercase": False},
    *({"family": "words", "normalise": form} for form in FORMS),
    {"family": "characters"},
    {"family": "characters", "lowercase": False, "normalise": "none"},
    *({"family": "wang_manning", "reading": reading} for reading in READINGS),
    *({"family": "wang_manning", "reading": reading, "normalise": "NFC"} for reading in READINGS),
]
# Separators and what looks like them; casing that looks around (sigma) or changes the length
# (dotted I, sharp s); marks that join (accent, virama, zero-width joiner, variation selector, skin
# tone, keycap, flags); Hangul as jamo; lone surrogates; emoticons, links and marks.
ODD = [
    *" \t\n\r\v\f\x1c\x85\u00a0\u2028\u3000\x08\x00\ufeff\u200b\u200d\ufe0f",
    *"aAzZ8xXdDoO1_'’.,-:;=!?()<3>^*@#/\\|",
    *"ΣσςßẞİıǅÉé\u0301\u0345\u094d\u1112\u1161\u11ab한भाह\u20e3",
    *"ＡﬁÅ´\u00ad\u200e\u030cไทย",
    *"👍🏽👨👩🇫🇷❤\ud800\udc00…。",
    *(":-)", "http://", "www.", "</3", "o_o", "...", "ΟΔΟΣ", "xD", "don't"),
]
texts = st.lists(
    st.one_of(
        st.text(max_size=20).map(str),
        st.lists(st.sampled_from(ODD), max_size=15).map("".join),
    ),
    max_size=5,
)


@pytest.mark.parametrize("options", TOKENIZERS, ids=str)
@settings(max_examples=40, deadline=None)
@given(texts, st.sampled_from([1, 10, 1 << 24]), st.sampled_from([1, 2]))
def test_tokens_are_those_of_whole_texts(options, texts, block, threads) -> None:
    names = [f"d{number}" for number in range(len(texts))]
    before = tokenising.BLOCK
    tokenising.BLOCK = block
    try:
        found = tokenise(names, texts, options, threads)
    finally:
        tokenising.BLOCK = before
    wanted = encode(names, tokenize_all(texts, options))
    assert found.documents == wanted.documents
    assert found.types == wanted.types
    for name in ("ids", "offsets"):
        ours, theirs = getattr(found, name), getattr(wanted, name)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_there_is_a_text_for_each_document() -> None:
    with pytest.raises(ValueError, match="2 documents but 1 texts"):
        tokenise(["x", "y"], ["a"], {"family": "words"})
