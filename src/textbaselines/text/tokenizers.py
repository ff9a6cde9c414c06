"""The tokenizer families a study may name, each a function from a text to its tokens.

``words`` is the sane default; ``whitespace`` takes text that was tokenised before; ``characters``
is for scripts without spaces; the family of Wang & Manning (2012) stands in
:mod:`textbaselines.text.wang_manning`.
"""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import regex

from textbaselines.core.errors import UserError
from textbaselines.datasets.normalisation import FORMS, normalised
from textbaselines.text import wang_manning
from textbaselines.text.tokens import SENTENCE_END

Tokenizer = Callable[[str], list[str]]

# Eyes 8 and x need a nose or a laughing mouth: "(see 8)" has no emoticon.
_EMOTICON = r"""
    (?<![\p{L}\p{N}])
    (?: [<>]? [:;=] [-o*'’^]? [)\](\[dDpP/\\|@3*>{}]+ (?![\p{L}\p{N}])   # :-) ;D :'(
      | [8xX] (?: - [)\](\[dD/\\|] | [dD] ) (?![\p{L}\p{N}])             # 8-) xD
      | [)\](\[dD/\\|@{}] [-o*'’^] [:;=]                               # (-:
      | <3+ | </3 | \^[_.-]*\^ | -[_.]+- | [oO][_.][oO] (?![\p{L}\p{N}]) )
"""
# An emoji with what belongs to it: skin tone, variation selector, joined emoji, flags, keycaps.
_EMOJI = r"""
      \p{Regional_Indicator}{2}
    | [0-9#*]\uFE0F?\u20E3
    | \p{Extended_Pictographic} [\p{EMod}\uFE0F]*
      (?: \u200D \p{Extended_Pictographic} [\p{EMod}\uFE0F]* )*
"""
_LINK = r"(?:https?://|www\.)[^\s<>\"]+"
# Letters with their combining marks (a Hindi or Telugu word is one token) and digits, with
# apostrophes, hyphens, points or commas inside: don't, well-made, 3.14, u.s.
_LETTERS = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\u200C\u200D]*"
_WORD = f"[#@]?{_LETTERS}(?:['’.,\\-]{_LETTERS})*"
_MARK = r"\.{2,}|!+|\?+|[^\s\p{C}]"
_TOKEN = regex.compile(
    f"{_EMOTICON}|{_LINK}|{_EMOJI}|{_WORD}|{_MARK}", regex.VERBOSE | regex.VERSION1
)
_TOKEN_OR_MARK = regex.compile(
    f"{_EMOTICON}|{_LINK}|{_EMOJI}|{_WORD}|(?P<mark>{_MARK})", regex.VERBOSE | regex.VERSION1
)
_SENTENCE_ENDS = frozenset(".!?…。！？।؟")
_CHARACTER = regex.compile(r"\X")


def _prepared(text: str, lowercase: bool, form: str) -> str:
    """Return a text normalised and, if wanted, in small letters."""
    text = normalised(text, form)
    # Small letters may compose where capitals do not (J with a caron), so a second time.
    return normalised(text.lower(), form) if lowercase else text


def words(
    text: str,
    lowercase: bool = True,
    punctuation: str = "keep",
    boundaries: str = "none",
    normalise: str = "NFC",
) -> list[str]:
    """Split a text into words, emoticons, emoji and marks; Unicode-safe, no letter is lost.

    Parameters
    ----------
    lowercase : bool
        Lower-case words; emoticons too (``:D`` and ``:d`` are one token then).
    punctuation : "keep" or "drop"
        Whether marks (everything that is no word, emoticon or emoji) are tokens. Dropping them
        does not make their neighbours adjacent across a sentence end when ``boundaries`` is set.
    boundaries : "none" or "sentence"
        With "sentence", :data:`~textbaselines.text.tokens.SENTENCE_END` follows each run of
        sentence-ending marks, so that no n-gram reaches over it.
    normalise : one of FORMS of :mod:`textbaselines.datasets.normalisation`
        The normalisation; it comes before everything else.

    Returns
    -------
    list of str
        One-character tokens are kept.
    """
    text = _prepared(text, lowercase, normalise)
    if text.isascii() and text.isalpha():
        return [text]  # a third of what tokenise() passes: no need of the pattern
    if punctuation == "keep" and boundaries == "none":
        return _TOKEN.findall(text)
    tokens: list[str] = []
    for match in _TOKEN_OR_MARK.finditer(text):
        mark = match.group("mark")
        if mark is None or punctuation == "keep":
            tokens.append(match.group())
        if boundaries == "sentence" and mark is not None and mark[0] in _SENTENCE_ENDS:
            tokens.append(SENTENCE_END)
    return tokens


def whitespace(text: str, lowercase: bool = True, normalise: str = "NFC") -> list[str]:
    """Split at white space, for text that was tokenised before.

    ``lowercase``: lower-case the text first; ``normalise``: as that of :func:`words`.
    """
    return _prepared(text, lowercase, normalise).split()


def characters(text: str, lowercase: bool = True, normalise: str = "NFC") -> list[str]:
    """Return the characters of a text, white space left out; for scripts without spaces.

    A character is what a reader takes for one: an extended grapheme cluster of Unicode Standard
    Annex #29, so that marks stay with their letter.

    ``lowercase``: lower-case the text first; ``normalise``: as that of :func:`words`.
    """
    pieces = _prepared(text, lowercase, normalise).split()
    return [character for piece in pieces for character in _CHARACTER.findall(piece)]


UNSEGMENTED = "unsegmented"
"""The option of families that rely on spaces: whether text without them is refused."""

_SPACES: dict[str, tuple[Any, ...]] = {"normalise": FORMS, UNSEGMENTED: ("refuse", "accept")}


@dataclass(frozen=True)
class Family:
    """A tokenizer family: its function and, for each option, the values it may take.

    ``cuts`` are ASCII characters at which a text may be cut without changing its tokens: those of
    the pieces, one after another, are those of the text. None for some options: ``uncut``.
    """

    tokenize: Callable[..., list[str]]
    options: Mapping[str, tuple[Any, ...]]
    cuts: bytes
    required: frozenset[str] = frozenset()
    uncut: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def separators(self, options: Mapping[str, Any]) -> bytes:
        """Return the characters at which a text may be cut under these options, or none."""
        whole = any(options.get(key) in values for key, values in self.uncut.items())
        return b"" if whole else self.cuts


FAMILIES: dict[str, Family] = {
    "words": Family(
        words,
        {
            "lowercase": (True, False),
            "punctuation": ("keep", "drop"),
            "boundaries": ("none", "sentence"),
            **_SPACES,
        },
        cuts=b" \t\n\r",
    ),
    "whitespace": Family(whitespace, {"lowercase": (True, False), **_SPACES}, cuts=b" \t\n\r"),
    "characters": Family(
        characters, {"lowercase": (True, False), "normalise": FORMS}, cuts=b" \t\n\r"
    ),
    "wang_manning": Family(
        wang_manning.tokenize,
        {"reading": wang_manning.READINGS, **_SPACES},
        cuts=b" \t\n\r",
        required=frozenset({"reading"}),
        # There each single space counts, and so do the ends of a text or a line.
        uncut={"reading": ("spaces", "lines")},
    ),
}


def check_tokenizer(options: Mapping[str, Any], where: str) -> None:
    """Refuse an unknown family, an unknown option or a value an option cannot take.

    ``options``: ``family`` and the family's options, as a study file gives them; ``where``: the
    config key, for the message.

    Raises
    ------
    UserError
    """
    name = options.get("family")
    if name not in FAMILIES:
        raise UserError(
            "unknown tokenizer family",
            where=f"{where}.family",
            found=repr(name),
            expected="one of " + ", ".join(FAMILIES),
        )
    family = FAMILIES[name]
    for key, value in options.items():
        if key == "family":
            continue
        if key not in family.options:
            near = difflib.get_close_matches(key, family.options, 1)
            raise UserError(
                f"tokenizer family {name!r} has no such option",
                where=f"{where}.{key}",
                found=repr(key),
                expected="one of " + ", ".join(family.options),
                fix=f"did you mean {near[0]!r}?" if near else None,
            )
        if value not in family.options[key]:
            raise UserError(
                "a value this option cannot take",
                where=f"{where}.{key}",
                found=repr(value),
                expected="one of " + ", ".join(map(repr, family.options[key])),
            )
    missing = family.required - set(options)
    if missing:
        raise UserError(
            f"tokenizer family {name!r} needs an option that is not given",
            where=where,
            expected=", ".join(sorted(missing)),
        )


def make_tokenizer(options: Mapping[str, Any]) -> Tokenizer:
    """Return the function from a text to its tokens that ``options`` describe.

    Raises
    ------
    UserError
        As :func:`check_tokenizer`.
    """
    check_tokenizer(options, "tokenizer")
    family = FAMILIES[options["family"]]
    chosen = {key: value for key, value in options.items() if key not in ("family", UNSEGMENTED)}

    def tokenizer(text: str) -> list[str]:
        return family.tokenize(text, **chosen)

    return tokenizer


def with_normalisation(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tokenizer's options with the normalisation that a family has by default stated."""
    tokenize = FAMILIES[options["family"]].tokenize
    return {"normalise": inspect.signature(tokenize).parameters["normalise"].default, **options}


def tokenize_all(texts: Iterable[str], options: Mapping[str, Any]) -> Iterable[list[str]]:
    """Yield the tokens of each text, in order."""
    return map(make_tokenizer(options), texts)
