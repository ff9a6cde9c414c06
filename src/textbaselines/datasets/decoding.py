"""Bytes become text: strictly or with counted replacements, never with NUL characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textbaselines.core.errors import UserError

if TYPE_CHECKING:
    from textbaselines.datasets.dataset_file import Encoding

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters and line ends, which no id of a document has."""

_BOM = "\ufeff"
# Those of UTF-32 first: the one for little-endian starts with that of UTF-16.
_WIDE_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 1 << 16  # bytes, a multiple of 4


class Decoder:
    """Decodes the documents of a dataset and counts what it replaced.

    Attributes
    ----------
    replaced_characters, replaced_documents : int
        The U+FFFD that stand for undecodable bytes so far, and the documents that have one.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.replaced_characters = 0
        self.replaced_documents = 0

    def file(self, content: bytes, where: str) -> str:
        """Return the text of a whole file or archive member, without a byte order mark.

        Raises
        ------
        UserError
            As :meth:`text`; for UTF-16 or UTF-32 without a byte order mark where none says the
            order of the bytes, and for a mark of another encoding.
        """
        self._check_start(content, where)
        return self.text(content, where).removeprefix(_BOM)

    def bytewise(self, content: bytes, where: str) -> tuple[Decoder, bytes]:
        """Return a file's bytes in an encoding that can be cut at line feeds and tabs, undecoded.

        Returns
        -------
        Decoder, bytes
            What decodes the parts, and the bytes without a byte order mark: those of the file, or
            UTF-8 where the encoding is wide.

        Raises
        ------
        UserError
            As :meth:`file`; a NUL is named with its line.
        """
        if self.encoding.wide:
            before = self.replaced_documents
            text = self.file(content, where)
            if self.replaced_documents > before:  # which has counted the file as one
                kept = content.decode(self.encoding.name, "ignore").removeprefix(_BOM)
                pairs = zip(text.split("\n"), kept.split("\n"), strict=True)
                self.replaced_documents = before + sum(line != other for line, other in pairs)
            return Decoder(
                self.encoding.model_copy(update={"name": "utf-8", "errors": "strict"})
            ), text.encode("utf-8")
        self._check_start(content, where)
        nul = content.find(b"\0")
        if nul >= 0:
            line = content.count(b"\n", 0, nul) + 1
            raise _has_nul(content, f"{where}, line {line}")
        return self, content.removeprefix(codecs.BOM_UTF8)

    def text(self, content: bytes, where: str, strict: bool = False) -> str:
        """Return the text of some bytes.

        Raises :class:`UserError` for bytes that are not in the encoding, unless they are to be
        replaced, and for a NUL character, with the encoding that the bytes look like.
        """
        name = self.encoding.name
        try:
            text = content.decode(name)
        except UnicodeError as error:
            if strict or self.encoding.errors == "strict":
                raise _undecodable(error, content, where, name) from None
            text = content.decode(name, "replace")
            genuine = content.decode(name, "ignore").count("\ufffd")
            self.replaced_characters += text.count("\ufffd") - genuine
            self.replaced_documents += 1
        if "\0" in text:
            raise _has_nul(content, where)
        return text

    def _check_start(self, content: bytes, where: str) -> None:
        marked = next((name for mark, name in _WIDE_BOMS.items() if content.startswith(mark)), None)
        name = self.encoding.name
        codec = codecs.lookup(name).name
        if marked is None:
            if content and codec in ("utf-16", "utf-32"):
                raise UserError(
                    f"text in {name} without the byte order mark that says which byte comes first",
                    where=where,
                    found=repr(content[:8]),
                    fix=_state(likely_encoding(content) or f"{codec}-le or {codec}-be"),
                )
        elif not codec.startswith(marked) or content.decode(name, "ignore").startswith("\ufffe"):
            raise UserError(
                f"the byte order mark of {marked} in text that is stated to be {name}",
                where=where,
                found=repr(content[:8]),
                fix=_state(marked),
            )


def numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) without its LF or CR LF; no other character ends a line."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix(b"\r")


def likely_encoding(content: bytes) -> str | None:
    """Return the kind of UTF-16 or UTF-32 that bytes look like, or None.

    Of two bytes of UTF-16 the higher is seldom anything but one of few values, often 0, and the
    lower is never 0 in plain text; of four bytes of UTF-32 two are always 0.
    """
    for mark, name in _WIDE_BOMS.items():
        if content.startswith(mark):
            return name
    sample = content[:_SAMPLE]
    if len(sample) < 4:
        return None
    of_four = [sample[place::4] for place in range(4)]
    zeros = [part.count(0) / len(part) for part in of_four]
    if min(zeros[2:]) > 0.9 > zeros[0]:
        return "utf-32-le"
    if min(zeros[:2]) > 0.9 > zeros[3]:
        return "utf-32-be"
    for name, lower, higher in (
        ("utf-16-le", sample[::2], sample[1::2]),
        ("utf-16-be", sample[1::2], sample[::2]),
    ):
        if higher.count(0) < 2 or higher.count(0) < 10 * lower.count(0):
            continue
        # Letters of an alphabet have a small higher byte. Others (Chinese, Japanese, Korean) are
        # no UTF-8, nor is text of one byte a character with a stray NUL or two.
        if sum(byte < 0x20 for byte in higher) > len(higher) / 2:
            return name
        if higher.count(0) > len(higher) / 100 and not _is_utf8(sample):
            return name
    return None


def _is_utf8(sample: bytes) -> bool:
    try:
        sample[:-4].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(sample) - 8  # cut within a character
    return True


def _state(name: str) -> str:
    return f"state encoding: {{name: {name}}} in the dataset file"


def _has_nul(content: bytes, where: str) -> UserError:
    likely = likely_encoding(content)
    return UserError(
        "text with a NUL character",
        where=where,
        found=f"U+0000, {content.count(0):,} zero bytes of {len(content):,}"
        + (f": this looks like {likely}" if likely else ""),
        expected="text without NUL characters",
        fix=_state(likely)
        if likely
        else "remove them: tr -d '\\000' < FILE > NEW_FILE, and state the new file's sha256",
    )


def _undecodable(error: UnicodeError, content: bytes, where: str, name: str) -> UserError:
    found = str(error)
    if isinstance(error, UnicodeDecodeError):
        found = f"byte 0x{content[error.start]:02x} at offset {error.start}"
    likely = likely_encoding(content)
    return UserError(
        f"bytes that are not {name}",
        where=where,
        found=found + (f"; this looks like {likely}" if likely else ""),
        expected=f"text in {name}",
        fix=_state(likely)
        if likely
        else "fetch the file again, or state its encoding in the dataset file",
    )
