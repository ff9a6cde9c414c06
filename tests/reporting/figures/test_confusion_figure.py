"""Heat maps of confusion matrices: squares are the shares, in the order of the file."""

import itertools

import numpy as np
import pandas as pd
import pytest

from textbaselines.reporting.figures.accuracy import write_figure
from textbaselines.reporting.figures.confusion_figure import (
    confusion_figure,
    confusion_of_best,
    has_many_classes,
    most_confused,
)

CLASSES = {"d": ["z", "NA", "$a$"], "e": ["pos", "neg"]}
STUDY = {
    "title": "A study",
    "datasets": [
        {"name": "d", "title": "Three", "classes": CLASSES["d"]},
        {"name": "e", "title": "Two", "classes": CLASSES["e"]},
    ],
}


def matrix(dataset, method, counts, classes):
    counts = np.array(counts)
    return pd.DataFrame(
        [
            {
                **{"dataset": dataset, "representation": "uni", "method": method},
                **{"selection": "fixed", "label": classes[i], "predicted": classes[j]},
                "predictions": int(counts[i, j]),
                "share_of_label": counts[i, j] / counts[i].sum(),
            }
            for i, j in np.ndindex(*counts.shape)
        ]
    )


CONFUSION = pd.concat(
    [
        matrix("d", "A", [[8, 2, 0], [5, 5, 0], [0, 1, 9]], CLASSES["d"]),
        matrix("d", "B", [[4, 4, 2], [5, 5, 0], [0, 1, 9]], CLASSES["d"]),
        matrix("e", "A", [[8, 2], [3, 7]], CLASSES["e"]),
    ],
    ignore_index=True,
)


def test_the_best_row_and_its_most_frequent_confusions():
    best = confusion_of_best(CONFUSION)
    assert set(best["method"]) == {"A"}
    assert has_many_classes(best).groupby(best["dataset"]).first().to_dict() == {
        "d": True,
        "e": False,
    }
    pairs = most_confused(best[best["dataset"] == "d"])
    assert list(zip(pairs["label"], pairs["predicted"], pairs["predictions"], strict=True)) == [
        ("NA", "z", 5),
        ("z", "NA", 2),
        ("$a$", "NA", 1),
    ]


def test_a_square_for_each_share_in_the_order_of_the_file(tmp_path):
    figure, words = confusion_figure(CONFUSION, STUDY)
    axis = figure.axes[0]
    assert [text.get_text() for text in axis.get_yticklabels()] == CLASSES["d"]
    (squares,) = axis.collections
    # Row by row: z, NA, $a$.
    assert squares.get_array().tolist() == pytest.approx([0.8, 0.2, 0.5, 0.5, 0.1, 0.9])
    assert {text.get_text() for text in axis.texts} == {"80", "20", "50", "10", "90"}
    assert "Three: A-uni:" in words
    assert "  NA as z: 50.0 (5 predictions)" in words
    assert "  NA: 50.0 right" in words
    assert "Two" not in words  # four numbers stand in a table
    written = [path.read_bytes() for path in write_figure(tmp_path / "c", figure, words)]
    assert b"<image" not in written[0]
    figure, words = confusion_figure(CONFUSION, STUDY)
    assert written == [path.read_bytes() for path in write_figure(tmp_path / "c", figure, words)]


def test_sixty_classes_with_long_names_stay_apart_and_light(tmp_path):
    names = [f"class {i} " + "x" * 200 for i in range(60)]
    counts = np.eye(60, dtype=int) * 9 + np.eye(60, k=1, dtype=int)
    study = {"title": "S", "datasets": [{"name": "d", "title": "Many", "classes": names}]}
    figure, words = confusion_figure(matrix("d", "A", counts, names), study)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert all(below.y1 <= above.y0 + 1 for above, below in itertools.pairwise(boxes))
    assert len({text.get_text() for text in figure.axes[0].get_yticklabels()}) == 60
    svg = write_figure(tmp_path / "c", figure, words)[0]
    assert svg.stat().st_size < 600_000
