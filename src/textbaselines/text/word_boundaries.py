"""Whether a tokenizer that relies on spaces found the words of a corpus: some scripts have none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from textbaselines.core.errors import UserError
from textbaselines.text.tokenizers import FAMILIES, UNSEGMENTED
from textbaselines.text.tokens import BREAK, Tokens

LONGEST_WORDS = {
    "Han": 2.5,
    "Hiragana": 2.5,
    "Katakana": 2.5,
    "Thai": 6.0,
    "Lao": 6.0,
    "Khmer": 6.0,
    "Myanmar": 6.0,
    "Tibetan": 6.0,
}
"""Scripts written without spaces, and how many letters a word has at most, on average over a text.

Of segmented text the averages are about 1.7 (Chinese, Japanese) and 3 (Thai, Khmer); runs between
spaces and marks have 7 and more."""

FEW_TOKENS, MANY_CHARACTERS = 2, 40
"""A median document of so few tokens and so many characters was not split into its words."""

_LETTERS = regex.compile(r"\p{L}")
_OF_SCRIPT = {name: regex.compile(rf"\p{{Script={name}}}") for name in LONGEST_WORDS}


def check_word_boundaries(
    tokens: Tokens, options: Mapping[str, Any], dataset: str, tokenizer: str, language: str
) -> None:
    """Refuse the tokens of a corpus whose words are not between spaces.

    That is so when most letters are of scripts without spaces (:data:`LONGEST_WORDS`) and come in
    tokens that are longer than words, or when the median document has many characters but hardly
    a token (:data:`MANY_CHARACTERS`, :data:`FEW_TOKENS`). Text that was segmented before passes.

    Parameters
    ----------
    tokens : Tokens
        Of the whole corpus.
    options : mapping
        The tokenizer's. Nothing is refused where its family does not rely on spaces, or where
        ``unsegmented`` is "accept".
    dataset, tokenizer : str
        Their names, for the message.
    language : str
        What the dataset file says, for the message.

    Raises
    ------
    UserError
        With the measure found, and the lines to write into the study file.
    """
    relies = UNSEGMENTED in FAMILIES[options["family"]].options
    if not relies or options.get(UNSEGMENTED) == "accept" or not len(tokens.documents):
        return
    per_document = _per_document(np.ones(len(tokens.types), dtype=np.int64), tokens)
    sizes = np.array([len(string) for string in tokens.types], dtype=np.int64)
    median, characters = np.median(per_document), np.median(_per_document(sizes, tokens))
    of_document = f"tokens and characters of the median document: {median:g} and {characters:g}"
    unspaced = _unspaced(tokens)
    if unspaced is not None:
        what = "words are not between spaces here, so that tokens are whole phrases"
        found = f"{unspaced}; {of_document}"
    elif median <= FEW_TOKENS and characters >= MANY_CHARACTERS:
        what = "the texts are hardly split into tokens"
        found = of_document
    else:
        return
    family = options["family"]
    raise UserError(
        what,
        where=f"dataset {dataset} (language: {language} in its file), study key tokenizers."
        f"{tokenizer} (family {family})",
        found=found,
        expected="tokens that are words",
        fix="take characters and their n-grams instead, by these lines in the study file:\n"
        "      tokenizers:\n"
        "        characters: {family: characters}\n"
        "      representations:\n"
        "        characters: {tokenizer: characters, ngrams: [1, 2], weighting: binary}\n"
        "    or put spaces between the words with a segmenter and take {family: whitespace};\n"
        "    if the tokens are as you want them, say so:\n"
        f"        {tokenizer}: {{family: {family}, ..., {UNSEGMENTED}: accept}}",
    )


def _per_document(weights: NDArray[np.int64], tokens: Tokens) -> NDArray[np.int64]:
    """Return the sum over each document's tokens of the weights of their types."""
    # The last place is that of BREAK.
    sums = np.zeros(len(tokens.ids) + 1, dtype=np.int64)
    np.cumsum(np.append(weights, 0)[tokens.ids], out=sums[1:])
    return np.diff(sums[tokens.offsets])


def _unspaced(tokens: Tokens) -> str | None:
    """Say which scripts without spaces most letters are of, when they come in long tokens."""
    occurrences = np.bincount(tokens.ids[tokens.ids != BREAK], minlength=len(tokens.types))
    letters = 0
    of_script = dict.fromkeys(LONGEST_WORDS, 0)
    holders = 0  # tokens with such letters
    for string, count in zip(tokens.types, occurrences.tolist(), strict=True):
        found = len(_LETTERS.findall(string))
        letters += found * count
        if string.isascii() or not found:
            continue
        mine = 0
        for name, pattern in _OF_SCRIPT.items():
            number = sum(map(str.isalpha, pattern.findall(string)))
            of_script[name] += number * count
            mine += number
        holders += (mine > 0) * count
    total = sum(of_script.values())
    if not letters or total <= letters / 2:
        return None
    length = total / holders
    if length <= sum(of_script[name] * limit for name, limit in LONGEST_WORDS.items()) / total:
        return None
    shares = ", ".join(
        f"{name} {100 * number / letters:.0f} %"
        for name, number in sorted(of_script.items(), key=lambda item: -item[1])
        if number >= letters / 100
    )
    return f"letters are {shares}, in tokens of {length:.1f} letters on average"
