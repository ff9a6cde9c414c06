import json

import pytest
from run_files import POINTS, client_of, log_to, make_cells, make_run

from stored_runs import store_run
from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_json
from textbaselines.reporting.tracking.records import read_finished
from textbaselines.reporting.tracking.ui import links_of_study
from textbaselines.reporting.tracking.views import experiment_tags, views_of

STUDY = {"name": "small", "title": "A small study"}
TAG = "mlflow.sharedViewState."


def records_of(root, *methods):
    folders = [make_run(root, method=method) for method in methods]
    return read_finished([store_run(folder) for folder in folders], STUDY).records


def test_a_grid_has_a_table_and_a_chart_for_each_method(root):
    records = records_of(root, "MNB", "SVM")
    views = {view.id: view for view in views_of("small-grid-cr", records["small-grid-cr"])}
    assert list(views) == ["all", "table-MNB", "chart-MNB", "table-SVM", "chart-SVM"]
    table = views["table-MNB"].state
    assert table["searchFilter"] == "tags.method = 'MNB'"
    assert {"metrics.`accuracy_pct`", "params.`alpha`"} <= set(table["selectedColumns"])
    parallel, scatter = views["chart-MNB"].state["compareRunCharts"]
    assert parallel["type"] == "PARALLEL"
    # the axis is the logarithm: alpha itself spans decades on a linear axis
    assert parallel["selectedParams"] == ["log10_alpha"]
    assert parallel["selectedMetrics"] == ["accuracy_pct"]
    assert scatter["xaxis"] == {"key": "log10_alpha", "type": "PARAM"}
    assert views["chart-MNB"].state["runsHiddenMode"] == "SHOW_ALL"
    (results,) = views_of("small-results", records["small-results"])
    assert {"tags.`dataset`", "metrics.`accuracy_low_pct`"} <= set(results.state["selectedColumns"])


def test_no_page_opens_with_what_was_chosen_on_the_test_folds(root):
    # The second point, of the grid alone, is right of one document more in each fold.
    records = read_finished([store_run(make_run(root, worse=lambda place: -place))], STUDY).records
    grid = records["small-grid-cr"]
    for view in views_of("small-grid-cr", grid):
        assert (view.state["orderByKey"], view.state["orderByAsc"]) == (
            "attributes.start_time",
            True,
        )
    assert "optimistic" in experiment_tags(STUDY, "small-grid-cr", grid)["mlflow.note.content"]
    (results,) = views_of("small-results", records["small-results"])
    assert results.state["orderByKey"] == "metrics.`accuracy_pct`"
    assert "metrics.`majority_accuracy_pct`" in results.state["selectedColumns"]
    assert {record.tags["selection"] for record in records["small-results"]} == {"fixed"}


def test_a_parameter_that_some_runs_lack_is_no_axis(root):
    points = [*POINTS, {"point": "cccccccccccc", "params": {"beta": 2.0}, "origin": ["grid"]}]
    records = read_finished([store_run(make_run(root, points=points))], STUDY).records[
        "small-grid-cr"
    ]
    (_, _, chart) = views_of("small-grid-cr", records)
    assert chart.state["compareRunCharts"][0]["selectedParams"] == []


def test_pages_open_with_the_views_and_old_views_go(root):
    folder, other = make_run(root), make_run(root, method="SVM")
    receipt = log_to(root, [folder, other], make_cells())
    client = client_of(root)
    experiment = client.get_experiment_by_name("small-grid-cr")
    tags = experiment.tags
    assert tags["mlflow.experimentKind"] == "custom_model_development"
    assert tags["mlflow.experiment.primaryMetric.name"] == "accuracy_pct"
    view = json.loads(tags[TAG + "chart-MNB"])
    assert (view["name"], view["createdAt"]) == ("MNB: chart", 1014250)
    assert isinstance(json.loads(view["state"])["selectedColumns"], list)
    link = receipt["links"]["small-grid-cr"]["MNB: chart"]
    assert link == (
        f"/#/experiments/{experiment.experiment_id}/runs?workflowType=machine_learning"
        "&viewStateShareKey=chart-MNB&compareRunsMode=CHART"
    )
    assert (root / "artifacts" / "small-grid-cr").as_uri() == experiment.artifact_location
    client.set_experiment_tag(experiment.experiment_id, TAG + "0b1c-a-users-own", "{}")
    log_to(root, [folder], make_cells())
    after = client.get_experiment_by_name("small-grid-cr").tags
    assert TAG + "chart-SVM" not in after
    assert TAG + "0b1c-a-users-own" in after


def test_tags_are_within_what_a_store_holds(root):
    records = records_of(root, *(f"method-{'x' * 33}{i}" for i in range(3)))
    for name, mine in records.items():
        assert max(map(len, experiment_tags(STUDY, name, mine).values())) < 20_000


def test_printed_links_are_those_of_the_receipt(root):
    log_to(root, [make_run(root)], make_cells(), receipt=root / "small" / "tracking" / "runs.json")
    shown = links_of_study(root, STUDY)
    assert [what for what, _ in shown] == ["results: Results", "cr: All methods", "cr: MNB: chart"]
    assert all(address.startswith("http://127.0.0.1:5000/#/experiments/") for _, address in shown)
    remote = links_of_study(root, {**STUDY, "tracking_uri": "https://mlflow.example.org/"})
    assert remote[0][1].startswith("https://mlflow.example.org/#/experiments/")
    assert links_of_study(root, {"name": "another"}) == []


def test_a_receipt_of_another_form_is_told(tmp_path):
    write_json(tmp_path / "small" / "tracking" / "runs.json", {"runs": {}})
    with pytest.raises(UserError, match="of another version"):
        links_of_study(tmp_path, STUDY)
