"""Files are whole or absent, free of pickle, and the same bytes for the same content."""

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.core import storage
from textbaselines.core.csv_tables import read_csv
from textbaselines.core.errors import UserError


def test_an_error_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file.txt"
    storage.write_text(path, "old")
    with pytest.raises(RuntimeError), storage.whole_file(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    storage.write_text(path, "old")
    program = (
        "import sys, time\n"
        "from textbaselines.core.storage import whole_file\n"
        "with whole_file(sys.argv[1]) as part:\n"
        "    part.write_text('half')\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    source = str(Path(storage.__file__).parents[2])
    writer = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert path.read_text() == "old"


def test_json_is_sorted_and_takes_numpy_numbers(tmp_path: Path) -> None:
    value = {"b": np.float64(0.5), "a": np.int64(1), "c": [np.bool_(True)], "d": Path("x")}
    assert storage.canonical_json(value) == '{"a":1,"b":0.5,"c":[true],"d":"x"}'
    storage.write_json(tmp_path / "v.json", value)
    assert storage.read_json(tmp_path / "v.json") == {"a": 1, "b": 0.5, "c": [True], "d": "x"}
    with pytest.raises(TypeError, match="set"):
        storage.canonical_json({"s": {1}})


def test_broken_json_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('{\n"a": }')
    with pytest.raises(UserError, match=r"v\.json, line 2"):
        storage.read_json(tmp_path / "v.json")


def test_arrays_keep_dtype_and_refuse_objects(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3, dtype=np.int32), "b": np.array(["x", "yy"])}
    storage.write_arrays(tmp_path / "a.npz", **arrays)
    again = storage.read_arrays(tmp_path / "a.npz")
    assert {name: array.dtype for name, array in again.items()} == {
        name: array.dtype for name, array in arrays.items()
    }
    with pytest.raises(TypeError, match="holds objects"):
        storage.write_arrays(tmp_path / "o.npz", o=np.array([{}], dtype=object))
    np.savez(tmp_path / "p.npz", o=np.array([{}], dtype=object))
    with pytest.raises(UserError, match="allow_pickle"):
        storage.read_arrays(tmp_path / "p.npz")


@pytest.mark.parametrize("read", [storage.read_arrays, lambda path: storage.read_array(path, "a")])
def test_a_broken_or_foreign_npz_is_named(read, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(UserError, match="no such file"):
        read(path)
    storage.write_arrays(path, a=np.arange(1000))
    whole = path.read_bytes()
    np.testing.assert_array_equal(storage.read_array(path, "a"), np.arange(1000))
    other = bytearray(whole)
    other[200] ^= 1  # within the array, whose checksum tells
    for content in (b"", b"PK", b"no archive", whole[:500], whole[:-30], bytes(other)):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"broken npz file") as told:
            read(path)
        assert told.value.where == str(path)
    storage.write_arrays(path, b=np.arange(3))
    with pytest.raises(UserError, match=r"arrays are missing: a") as told:
        storage.read_arrays(path, ["a", "b"])
    assert told.value.found == "b"
    with pytest.raises(UserError, match=r"arrays are missing: a"):
        storage.read_array(path, "a")


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "x": [0.1, float("nan")], "f": [None, "why"]})
    for name in ("1", "2"):
        storage.write_parquet(tmp_path / f"{name}.parquet", frame)
        storage.write_arrays(tmp_path / f"{name}.npz", a=np.arange(4))
        time.sleep(0.01)
    for ending in ("parquet", "npz"):
        assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()


@given(st.lists(st.text(max_size=8)))
def test_packed_strings_round_trip(strings: list[str]) -> None:
    assert storage.unpack_strings(*storage.pack_strings(strings)) == strings


def test_a_large_array_lies_in_a_file(monkeypatch) -> None:
    monkeypatch.setattr(storage, "IN_MEMORY", 40)
    small, large = storage.large_array(10, np.int32), storage.large_array(11, np.int32)
    assert not isinstance(small, np.memmap)
    assert isinstance(large, np.memmap)
    large[:] = np.arange(11)
    assert large.sum() == 55


@pytest.mark.parametrize("content", [b"", b"PAR1\x15\x04 cut off", b"\xff\xfe\x00\xd8"])
@pytest.mark.parametrize(
    "read",
    [storage.read_parquet, storage.parquet_columns, read_csv, storage.read_json],
)
def test_a_broken_result_file_is_named(read, content: bytes, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    # A CSV of some words is a CSV: it breaks where a row has more fields than the head.
    broken.write_bytes(content if read is not read_csv or not content else b"a\n1,2\n\xff")
    with pytest.raises(UserError, match="broken"):
        read(broken)


def test_a_parquet_file_without_a_wanted_column_is_named(tmp_path: Path) -> None:
    storage.write_parquet(tmp_path / "x.parquet", pd.DataFrame({"a": [1], "b": [2]}))
    assert list(storage.read_parquet(tmp_path / "x.parquet", columns=["b"])) == ["b"]
    with pytest.raises(UserError, match=r"x\.parquet"):
        storage.read_parquet(tmp_path / "x.parquet", columns=["c"])


def test_what_a_killed_process_left_goes_and_what_a_live_one_writes_stays(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, live, other = (
        tmp_path / f".a.json.{host}.{process}.part"
        for host, process in (
            (platform.node(), gone.pid),
            (platform.node(), os.getppid()),
            ("another-machine", gone.pid),
        )
    )
    for file in (left, live, other):
        file.write_text("half")
    storage.write_json(tmp_path / "a.json", {})
    assert sorted(tmp_path.iterdir()) == sorted([live, other, tmp_path / "a.json"])
