"""Unicode normalisation: spellings that look the same become the same characters."""

import unicodedata

import regex

FORMS = ("NFC", "NFD", "NFKC", "NFKD", "none")
"""What ``form`` may be: the four forms of Unicode Standard Annex #15, or no change at all."""

# Soft hyphens, marks of the writing direction, the word joiner, invisible operators, the BOM. The
# joiners U+200C and U+200D stay: emoji, Persian and the scripts of India are spelt with them.
_INVISIBLE = regex.compile(
    r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
# In these scripts, which have no spaces between words, a zero-width space is one.
_WORD_BREAK = regex.compile(
    r"(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])\u200b"
)


def normalised(text: str, form: str = "NFC") -> str:
    """Return the text in a normalisation form, without invisible characters.

    Removed are the soft hyphen (U+00AD), the zero-width space (U+200B; after a Thai, Lao, Khmer or
    Burmese letter it becomes a space), the word joiner and invisible operators (U+2060 to U+2064),
    marks of the writing direction and U+FEFF, the BOM. U+200C and U+200D stay.

    ``form``: with "none" the text is returned as it is.
    """
    if form == "none" or text.isascii():
        return text
    text = _INVISIBLE.sub("", _WORD_BREAK.sub(" ", text))
    return unicodedata.normalize(form, text)  # type: ignore[arg-type]
