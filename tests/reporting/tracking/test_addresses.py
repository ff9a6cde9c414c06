"""Addresses of SQLite files open the file they name, whatever its folder is called."""

from pathlib import Path

import pytest
import sqlalchemy

from textbaselines.reporting.tracking.addresses import sqlite_address


@pytest.mark.parametrize("folder", ["plain", "a?b", "a#b", "%41", "{a} 'q' \"&;é", "100%", "a?b=c"])
def test_the_file_is_where_its_path_says(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir()
    engine = sqlalchemy.create_engine(sqlite_address(place / "x.db"))
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE t (a)"))
    engine.dispose()
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*")] == [
        Path(folder),
        Path(folder, "x.db"),
    ]


def test_a_plain_path_keeps_its_plain_address(tmp_path: Path) -> None:
    assert sqlite_address(tmp_path / "x.db") == f"sqlite:///{tmp_path / 'x.db'}"
