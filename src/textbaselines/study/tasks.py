"""What a training task is: one method's whole grid on one representation of one dataset."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """One training task.

    Attributes
    ----------
    dataset, representation, method, family : str
    classes : list of str
        The positive class first.
    weighting, scope : str
    reduction : dict or None
        Of the representation.
    points : list of dict
        Each with ``point`` (its id), ``params`` and ``origin``.
    chooses : bool
        Whether the inner folds are to be trained on: there is something to choose.
    details : dict
        What the record of the run says besides: protocol, tokenizer, n-gram range, UNK policy.
    ties : "majority" or "last"
        Which class wins a tie (:func:`textbaselines.training.predictions.class_order`).
    """

    dataset: str
    representation: str
    method: str
    family: str
    classes: list[str]
    weighting: str
    scope: str
    reduction: dict[str, Any] | None
    points: list[dict[str, Any]]
    chooses: bool
    details: dict[str, Any]
    ties: str = "majority"
