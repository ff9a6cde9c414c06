"""Result files: whole or absent, without pickle, the same bytes for the same content."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import platform
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textbaselines.core.errors import UserError

# Fetching needs neither, and to load them takes as long as many a step.
if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

IN_MEMORY = 1 << 28
"""Bytes of a single array above which it is made in a memory-mapped file."""


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, renamed onto it when the block ends without error.

    A reader sees the old file or the new one, never a part; after an error (or a kill) ``path``
    is what it was before. What a process of this machine left beside it when it was killed goes.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    here = f".{path.name}.{platform.node()}."
    beside = path.with_name(f"{here}{os.getpid()}.part")
    for left in path.parent.iterdir():
        process = left.name.removeprefix(here).removesuffix(".part")
        if left.name == f"{here}{process}.part" and process.isdigit() and not _runs(int(process)):
            left.unlink(missing_ok=True)
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain
    )


def short_digest(value: Any, digits: int = 12) -> str:
    """Return the first hex digits of the sha256 of the canonical JSON of ``value``."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()[:digits]


def file_digest(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, in hex."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON with sorted keys; numpy scalars become plain numbers."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=_plain)
    write_text(path, text + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; raise :class:`UserError` with the line when it is not valid JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UserError("not a JSON file", where=str(path), found=str(error)) from error
    except json.JSONDecodeError as error:
        raise UserError(
            "not a JSON file", where=f"{path}, line {error.lineno}", found=error.msg
        ) from error


def write_parquet(path: str | Path, frame: pd.DataFrame) -> None:
    """Write a data frame as Parquet (zstd, without the index).

    Floats, of which few are equal, have no dictionary, and columns no statistics: that takes half
    the time, and a fifth of the space.
    """
    words = [name for name, kind in frame.dtypes.items() if kind.kind != "f"]
    with whole_file(path) as part:
        frame.to_parquet(
            part, index=False, compression="zstd", use_dictionary=words, write_statistics=False
        )


def join_parquet(
    path: str | Path, keys: Sequence[str], parts: Sequence[tuple[dict[str, str], Path]]
) -> list[list[str]]:
    """Write Parquet files one below the other, and return the columns that each of them had.

    One part is in memory at a time. A part is a row group, so that a reader who filters by the
    columns that say which part a row is from reads that part alone. A column that a part lacks is
    null there.

    Parameters
    ----------
    path : path
    keys : sequence of str
        The columns that say which part a row is from.
    parts : sequence of (mapping, path)
        What says which part it is, a value for each key, and the file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = [pq.read_schema(part).remove_metadata() for _, part in parts]
    shared = pa.unify_schemas(
        [pa.schema([(name, pa.string()) for name in keys]), *schemas], promote_options="permissive"
    )
    words = [field.name for field in shared if not pa.types.is_floating(field.type)]
    with (
        whole_file(path) as beside,
        pq.ParquetWriter(
            beside, shared, compression="zstd", use_dictionary=words, write_statistics=list(keys)
        ) as writer,
    ):
        for key, part in parts:
            table = pq.read_table(part).replace_schema_metadata()
            for name in keys:
                column = pa.array([key[name]] * len(table), pa.string())
                table = table.append_column(name, column)
            found = [
                table[field.name].cast(field.type)
                if field.name in table.column_names
                else pa.nulls(len(table), field.type)
                for field in shared
            ]
            whole = pa.table(found, schema=shared)
            writer.write_table(whole, row_group_size=max(len(whole), 1))
    return [list(schema.names) for schema in schemas]


def read_parquet(
    path: str | Path,
    filters: list[tuple[str, str, Any]] | None = None,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a Parquet file; raise :class:`UserError` when it is absent or broken.

    Parameters
    ----------
    path : path
    filters : list of (column, operator, value), optional
        Which rows: those for which all hold.
    columns : sequence of str, optional
        Which columns; all by default.
    """
    import pandas as pd

    with named_if_broken(path, "Parquet"):
        return pd.read_parquet(
            path, filters=filters, columns=None if columns is None else list(columns)
        )


def table_digest(
    path: str | Path, filters: list[tuple[str, str, Any]], columns: Sequence[str]
) -> str:
    """Return the sha256 of the content of some rows and columns of a Parquet file, in hex."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with named_if_broken(path, "Parquet"):
        table = pq.read_table(path, columns=list(columns), filters=filters)
    stream = pa.BufferOutputStream()
    plain = table.replace_schema_metadata().combine_chunks()
    with pa.ipc.new_stream(stream, plain.schema) as writer:
        writer.write_table(plain)
    return hashlib.sha256(stream.getvalue()).hexdigest()


def parquet_columns(path: str | Path) -> list[str]:
    """Return the names of a Parquet file's columns; :class:`UserError` as :func:`read_parquet`."""
    import pyarrow.parquet as pq

    with named_if_broken(path, "Parquet"):
        return list(pq.read_schema(path).names)


@contextmanager
def named_if_broken(path: str | Path, form: str) -> Iterator[None]:
    """Raise :class:`UserError` with the path when a file cannot be read in the block."""
    try:
        yield
    except FileNotFoundError as error:
        raise UserError("no such file", where=str(path), fix="make it again") from error
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        # Also those of Arrow and of pandas for content they cannot read.
        raise UserError(
            f"a broken {form} file",
            where=str(path),
            found=str(error).partition("\n")[0],
            fix="delete it, and run again what makes it",
        ) from error


def write_arrays(path: str | Path, **arrays: NDArray[Any]) -> None:
    """Write arrays as one uncompressed npz; object arrays are refused.

    Raises
    ------
    TypeError
        When an array holds Python objects, which only pickle could store.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"array {name!r} holds objects; only plain arrays are stored")
    with whole_file(path) as part, part.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def write_array_series(path: str | Path, arrays: Iterable[tuple[str, NDArray[Any]]]) -> int:
    """Write named arrays one after another as an uncompressed npz, and return their number.

    For arrays that would not fit into memory together: each is written before the next is taken.
    """
    written = 0
    with whole_file(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, array in arrays:
            # A name without a time of day: the same content gives the same bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
            written += 1
    return written


def read_array(path: str | Path, name: str) -> NDArray[Any]:
    """Read one array of an npz file.

    Raises
    ------
    UserError
        When the file is absent, broken, has pickled content or no array of that name.
    """
    with named_if_broken(path, "npz"), np.load(path, allow_pickle=False) as archive:
        _want_arrays(path, archive.files, (name,))
        return np.asarray(archive[name])


def read_arrays(path: str | Path, wanted: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Read every array of an npz file; :class:`UserError` as :func:`read_array`.

    Parameters
    ----------
    path : path
    wanted : sequence of str, optional
        Names of arrays that must be there.
    """
    with named_if_broken(path, "npz"), np.load(path, allow_pickle=False) as archive:
        _want_arrays(path, archive.files, wanted)
        return {name: archive[name] for name in archive.files}


def _want_arrays(path: str | Path, there: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in there]
    if missing:
        raise UserError(
            f"arrays are missing: {', '.join(missing)}",
            where=str(path),
            found=", ".join(there[:10]) + (f" and {len(there) - 10} more" if there[10:] else ""),
            fix="delete the file and run again",
        )


def large_array(size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Return an array to be filled: in memory, or above :data:`IN_MEMORY` bytes in a file.

    The file has no name and goes with the array; it lies in the folder that ``TMPDIR`` says. The
    system keeps of it in memory what there is room for.
    """
    if size * np.dtype(dtype).itemsize <= IN_MEMORY:
        return np.empty(size, dtype)
    with tempfile.TemporaryFile() as stream:
        return np.memmap(stream, dtype, mode="w+", shape=size)


class PackedStrings(NamedTuple):
    """n strings as one array of UTF-8 bytes and their n + 1 offsets into it."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]


def pack_strings(strings: Sequence[str]) -> PackedStrings:
    """Pack strings into two plain arrays."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return PackedStrings(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)


def pack_arrow_strings(strings: pa.LargeStringArray) -> PackedStrings:
    """Pack an Arrow array of large strings without nulls, without a detour through Python."""
    _, offsets, data = strings.buffers()
    positions = np.frombuffer(offsets, dtype=np.int64)[strings.offset :][: len(strings) + 1]
    content = np.frombuffer(data, dtype=np.uint8)[positions[0] : positions[-1]]
    return PackedStrings(content, positions - positions[0])


def unpack_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    """Return the strings that :func:`pack_strings` packed."""
    blob = data.tobytes()
    bounds = offsets.tolist()
    return [
        blob[start:stop].decode("utf-8", "surrogatepass")
        for start, stop in itertools.pairwise(bounds)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
