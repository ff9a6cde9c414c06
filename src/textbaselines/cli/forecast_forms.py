"""What a study would run, as a list for terminals, in a few lines, and as JSON."""

import json
import math

import pandas as pd

from textbaselines.study.estimates import TOKENS_PER_DOCUMENT
from textbaselines.study.forecast import StudyEstimate

_HEADS = {
    "points": "grid points",
    "outer_fits": "outer fits",
    "inner_fits": "inner fits",
    "document_fits": "documents x fits",
    "core_seconds": "estimate, s",
    "basis": "estimate from",
}


def plan_list(plan: StudyEstimate) -> pd.DataFrame:
    """Return the rows of a plan under readable heads, the estimates with two digits."""
    shown = plan.rows.assign(core_seconds=plan.rows["core_seconds"].map(_two_digits))
    return shown.rename(columns=_HEADS)


def totals(plan: StudyEstimate, title: str, cores: int) -> list[str]:
    """Return what a plan comes to, in lines."""
    rows = plan.rows
    tasks, done = int(rows["tasks"].sum()), int(rows["done"].sum())
    lines = [
        f"{title}: {tasks - done} of {tasks} training tasks to run, {done} done",
        f"fits: {int(rows['outer_fits'].sum()):,} outer, {int(rows['inner_fits'].sum()):,} inner; "
        f"documents x fits: {int(rows['document_fits'].sum()):,}",
    ]
    if plan.other_jobs:
        names = ", ".join(f"{rule} {count}" for rule, count in plan.other_jobs.items())
        lines.append(
            f"other jobs: {names}; about {duration(plan.other_seconds)} on one core, downloads "
            "not counted"
        )
    lines.append(
        f"estimate: {plan.core_seconds / 3600:.2f} core-hours; about "
        f"{duration(plan.wall_seconds(cores))} on {cores} core{'' if cores == 1 else 's'}"
    )
    if plan.assumed:
        lines.append(
            f"not read yet, so of assumed length ({TOKENS_PER_DOCUMENT:.0f} tokens per document): "
            + ", ".join(plan.assumed)
        )
    lines += [f"note: {note}" for note in plan.notes]
    return lines


def plan_as_json(plan: StudyEstimate, study: str, cores: int) -> str:
    """Return a plan as JSON: rows, tasks and totals, times in seconds."""
    whole = {
        "study": study,
        "rows": plan.rows.to_dict("records"),
        "tasks": plan.tasks.to_dict("records"),
        "other_jobs": plan.other_jobs,
        "other_seconds": plan.other_seconds,
        "assumed_length": list(plan.assumed),
        "notes": list(plan.notes),
        "core_seconds": plan.core_seconds,
        "cores": cores,
        "wall_seconds": plan.wall_seconds(cores),
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits: 40 s, 12 min, 3.5 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _two_digits(seconds: float) -> float:
    return round(seconds, 1 - math.floor(math.log10(seconds))) if seconds > 0 else 0.0
