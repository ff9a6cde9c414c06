"""How MLflow's pages open: an experiment's description, its saved views and their addresses."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textbaselines.core.storage import canonical_json
from textbaselines.reporting.tracking.records import Record

_TAG = "mlflow.sharedViewState."
_MOST_COLUMNS = 20  # of hyper-parameters; an experiment tag holds 20,000 characters


@dataclass(frozen=True)
class View:
    """A saved view: its id in addresses, its name in the menu, the page, and the page's state.

    The state has every field that MLflow 3.17's page writes itself; a page that cannot read it
    says so and opens plainly.
    """

    id: str
    name: str
    mode: str
    state: dict[str, Any]

    def link(self, experiment: str) -> str:
        """Return the address that opens it, from the server's root on."""
        return (
            f"/#/experiments/{experiment}/runs?workflowType=machine_learning"
            f"&viewStateShareKey={self.id}&compareRunsMode={self.mode}"
        )


def views_of(name: str, records: Sequence[Record]) -> list[View]:
    """Return the saved views of an experiment, the one to open first.

    ``<study>-results``: one table. A grid: a table of all its runs, then a table and a chart with
    parallel coordinates for each method, on the hyper-parameters which that method has (a run
    that lacks a parameter would be drawn at a value that it does not have).
    """
    if name.endswith("-results"):
        return [View("results", "Results", "TABLE", _table(records, ["dataset", "selection"]))]
    views = [View("all", "All methods", "TABLE", _table(records, []))]
    for method in dict.fromkeys(record.tags["method"] for record in records):
        mine = [record for record in records if record.tags["method"] == method]
        search = f"tags.method = '{method}'"
        views.append(View(f"table-{method}", f"{method}: grid", "TABLE", _table(mine, [], search)))
        views.append(View(f"chart-{method}", f"{method}: chart", "CHART", _chart(mine, search)))
    return views


def experiment_tags(
    study: Mapping[str, Any], name: str, records: Sequence[Record]
) -> dict[str, str]:
    """Return the tags that make an experiment's page open with what matters."""
    final = name.endswith("-results")
    what = (
        "one run per cell of the comparison table, of selection fixed (hyper-parameters named in "
        "the study file) or nested (chosen in each fold by its inner folds)"
        if final
        else "one run per grid point; the folds are the steps of the fold metrics. Accuracies are "
        "those on the test folds: the best point picked here is optimistic"
    )
    tags = {
        "mlflow.experimentKind": "custom_model_development",
        "mlflow.note.content": f"{study['title']}: {what}. Made from the result files; a number to "
        "report is taken from the tables, not from here.",
        "mlflow.experiment.primaryMetric.name": "accuracy_pct",
        "stage": "final" if final else "grid",
    }
    created = int(1000 * max((record.ended for record in records), default=0.0))
    for view in views_of(name, records):
        tags[_TAG + view.id] = canonical_json(
            {"name": view.name, "createdAt": created, "state": canonical_json(view.state)}
        )
    return tags


def outdated_views(tags: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Return the tags of this package's views that an experiment no longer needs.

    A view that a user saved has an id of another form and stays.
    """
    ours = ("all", "results", "textbaselines")
    return [
        tag
        for tag in tags
        if tag.startswith(_TAG) and tag not in wanted
        if tag[len(_TAG) :] in ours or tag[len(_TAG) :].startswith(("table-", "chart-"))
    ]


def views_to_open(views: Sequence[View], records: Sequence[Record]) -> list[str]:
    """Return the names of the views to print: the first, and the chart of the largest grid."""
    methods = Counter(record.tags["method"] for record in records)
    names = [views[0].name]
    if len(views) > 1 and methods:
        largest = methods.most_common(1)[0][0]
        names += [view.name for view in views if view.id == f"chart-{largest}"]
    return names


def _parameters(records: Sequence[Record]) -> list[str]:
    """Return the hyper-parameters that runs have, those that vary first."""
    values: dict[str, set[str]] = {}
    for record in records:
        for name, value in record.params.items():
            values.setdefault(name, set()).add(value)
    names = sorted(values, key=lambda name: (len(values[name]) < 2, name))
    return [name for name in names if name not in ("method", "representation")]


def _table(records: Sequence[Record], first: list[str], search: str = "") -> dict[str, Any]:
    shown = [name for name in _parameters(records) if not name.startswith("log10_")]
    metrics = [
        "accuracy_pct",
        *(
            ["accuracy_low_pct", "accuracy_high_pct", "majority_accuracy_pct"]
            if first
            else ["accuracy_std_pct"]
        ),
        "macro_f1_pct",
        "fit_seconds",
    ]
    columns = [f"tags.`{tag}`" for tag in [*first, "method", "representation", "converged"]]
    columns += [f"metrics.`{metric}`" for metric in metrics]
    columns += [f"params.`{param}`" for param in shown[:_MOST_COLUMNS]]
    state = _state(columns, search)
    if not first:
        # In the order of training: the best grid point on the test folds is not put first.
        state |= {"orderByKey": "attributes.start_time", "orderByAsc": True}
    return state


def _chart(records: Sequence[Record], search: str) -> dict[str, Any]:
    """Return a page with parallel coordinates, and accuracy over each number that varies."""
    # A chart leaves out a run that lacks one of its parameters: keep those that all runs have.
    names = [
        name
        for name in _parameters(records)
        if all(name in record.params for record in records)
        if len({record.params[name] for record in records}) > 1
    ]
    axes = [name for name in names if f"log10_{name}" not in names]
    if len({record.tags["representation"] for record in records}) > 1:
        axes.append("representation")
    section = "grid"
    charts: list[dict[str, Any]] = [
        {
            "uuid": "parallel",
            "type": "PARALLEL",
            "runsCountToCompare": len(records),
            "metricSectionId": section,
            "deleted": False,
            "isGenerated": False,
            "selectedParams": axes,
            "selectedMetrics": ["accuracy_pct"],
            "showAllRuns": True,
        }
    ]
    numbers = [axis for axis in axes if all(_is_number(record.params[axis]) for record in records)]
    for axis in numbers[:4]:
        charts.append(
            {
                "uuid": f"scatter-{axis}",
                "type": "SCATTER",
                "runsCountToCompare": len(records),
                "metricSectionId": section,
                "deleted": False,
                "isGenerated": False,
                "xaxis": {"key": axis, "type": "PARAM"},
                "yaxis": {"key": "accuracy_pct", "type": "METRIC"},
            }
        )
    columns = [f"metrics.`{name}`" for name in ("accuracy_pct", "accuracy_std_pct")]
    return {
        **_state([*columns, *(f"params.`{axis}`" for axis in axes)], search),
        "orderByKey": "attributes.start_time",
        "orderByAsc": True,
        "compareRunCharts": charts,
        # Reordered: else MLflow puts the sections that it makes itself first.
        "isAccordionReordered": True,
        "compareRunSections": [
            {"uuid": section, "name": "Grid", "display": True, "isReordered": True}
        ],
    }


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _state(columns: list[str], search: str) -> dict[str, Any]:
    return {
        "searchFilter": search,
        "orderByKey": "metrics.`accuracy_pct`",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "selectedColumns": columns,
        "columnOrder": [],
        "columnWidths": {},
        "runsHiddenMode": "SHOW_ALL",
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": False,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": None,
        "groupsExpanded": {},
    }
