"""Jobs look their part of the plan up by stage, dataset and name."""

from pathlib import Path

import pytest

from textbaselines import storage
from textbaselines.errors import UserError
from textbaselines.experiments.plan_file import read_part


def test_a_part_is_found_by_its_keys(tmp_path: Path) -> None:
    storage.write_json(tmp_path / "plan.json", {"train": {"d": {"job": [1, 2]}}})
    assert read_part(tmp_path / "plan.json", "train", "d", "job") == [1, 2]


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    storage.write_json(tmp_path / "plan.json", {"train": {"d": {}}})
    with pytest.raises(UserError, match="train > d > job"):
        read_part(tmp_path / "plan.json", "train", "d", "job")
