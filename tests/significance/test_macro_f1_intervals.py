"""The bootstrap of macro-F1, against one that draws every group by itself."""

import numpy as np
import pandas as pd
import pytest

from textbaselines.significance.macro_f1_intervals import interval

CLASSES = ["a", "b", "c"]


def predictions(copies: int) -> pd.DataFrame:
    """Two repeats of 150 documents, of which the first 60 are groups of ``copies`` same texts."""
    rng = np.random.default_rng(1)
    labels = rng.choice(3, p=[0.1, 0.2, 0.7], size=150)
    group = np.arange(150)
    group[:60] //= copies
    labels = labels[group]
    parts = []
    for repeat in range(2):
        guess = np.where(rng.random(150) < 0.6, labels, rng.choice(3, size=150))[group]
        parts.append(
            pd.DataFrame(
                {
                    "repeat": repeat,
                    "fold": 0,
                    "id": [f"d{number}" for number in range(150)],
                    "label": np.array(CLASSES)[labels],
                    "predicted": np.array(CLASSES)[guess],
                    "group": group,
                }
            ).sample(frac=1, random_state=repeat)
        )
    return pd.concat(parts, ignore_index=True)


def _f1(truth: np.ndarray, guess: np.ndarray) -> float:
    return 2 * (truth & guess).sum() / (truth.sum() + guess.sum())


def drawn_one_by_one(frame: pd.DataFrame, resamples: int) -> tuple[float, float]:
    rng = np.random.default_rng(7)
    groups = frame["group"].unique()
    rows_of = {group: np.flatnonzero(frame["group"] == group) for group in groups}
    values = []
    repeat, truth, guess = (frame[name].to_numpy() for name in ("repeat", "label", "predicted"))
    for _ in range(resamples):
        rows = np.concatenate([rows_of[group] for group in rng.choice(groups, len(groups))])
        f1 = []
        for place in (0, 1):
            t, g = truth[rows][repeat[rows] == place], guess[rows][repeat[rows] == place]
            f1.append(np.mean([_f1(t == name, g == name) for name in CLASSES]))
        values.append(np.mean(f1))
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


@pytest.mark.parametrize("copies", [1, 6])
def test_it_is_the_bootstrap_over_groups(copies: int) -> None:
    frame = predictions(copies)
    groups = frame.drop_duplicates("id").set_index("id")["group"]
    found = interval(frame, groups, CLASSES, seed=3, resamples=20_000)
    assert found == pytest.approx(drawn_one_by_one(frame, 1_500), abs=0.012)
    assert found == interval(frame, groups, CLASSES, seed=3, resamples=20_000)


def test_copies_widen_it() -> None:
    frame = predictions(6)
    groups = frame.drop_duplicates("id").set_index("id")["group"]
    alone = pd.Series(np.arange(len(groups)), index=groups.index)
    low, high = interval(frame, groups, CLASSES, seed=3)
    narrow_low, narrow_high = interval(frame, alone, CLASSES, seed=3)
    assert high - low > narrow_high - narrow_low


def test_no_prediction_has_no_interval() -> None:
    empty = predictions(1).iloc[:0]
    assert np.isnan(interval(empty, pd.Series(dtype=int), CLASSES, seed=0)).all()
