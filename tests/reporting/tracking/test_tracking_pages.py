"""MLflow's own pages in a real browser: what the printed links show.

Needs Chromium (Debian's package, or any other in the PATH) and the package playwright, which
drives it; nothing is downloaded.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from run_files import log_to, make_run, runs_of

from textbaselines.core.errors import UserError
from textbaselines.reporting.tracking.ui import links_of_study, ui_command

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
    pytest.mark.xdist_group("browser"),
]
STUDY = {
    "name": "small",
    "title": "A small study",
    "command": "snakemake --cores all --configfile config/small.yaml",
}
GRID = [
    {
        "point": f"{place:012x}",
        "params": {"C": c, "beta": beta},
        "origin": ["fixed", "grid"] if place == 0 else ["grid"],
    }
    for place, (c, beta) in enumerate((c, b) for c in (0.1, 1.0, 10.0) for b in (0, 0.3, 0.6, 1))
]
SECONDS = 60_000  # for one thing to appear, in ms: the machine may be busy


def made_differently(place):
    """Keep the accuracies of a grid in bounds: only six of ten can be wrong."""
    return place % 5


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A logged study of a grid of twelve points, served; its folder and its links by name."""
    root = tmp_path_factory.mktemp("served")
    folders = [
        make_run(root, "cr", "NBSVM", GRID[:6]),
        make_run(root, "cr", "SVM", GRID[:6]),
        make_run(root, "rt-s", "NBSVM", GRID, worse=made_differently),
    ]
    log_to(root, folders, None, study=STUDY, receipt=root / "small" / "tracking" / "runs.json")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command, environment = ui_command(root, port)
    server = subprocess.Popen(
        command,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 90
        with socket.socket() as knock:
            while knock.connect_ex(("127.0.0.1", port)) != 0:
                assert time.monotonic() < end, "the server did not start"
                time.sleep(0.3)
        yield root, dict(links_of_study(root, STUDY, f"http://127.0.0.1:{port}"))
    finally:
        os.killpg(server.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page that fails the test when it asks anything of another machine."""
    context = browser.new_context(viewport={"width": 1500, "height": 900})
    # The panel of MLflow's assistant covers a quarter of the page until a user closes it.
    context.add_init_script("localStorage.setItem('mlflow.assistant.panelOpen_v1', 'false')")
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    hosts = {urlsplit(url).hostname for url in asked if url.startswith(("http", "ws"))}
    context.close()
    assert hosts == {"127.0.0.1"}


def test_the_results_link_shows_the_metric_columns(served, page) -> None:
    _, links = served
    page.goto(links["results: Results"])
    for column in ("accuracy_pct", "accuracy_low_pct", "accuracy_high_pct", "macro_f1_pct"):
        page.get_by_role("columnheader", name=column).first.wait_for()
    page.get_by_text("NBSVM-uni on rt-s").first.wait_for()
    # 30 of 40 documents are right, in every one of the three
    assert page.get_by_role("gridcell", name=re.compile("^75$")).count() == 3


def test_the_chart_link_shows_every_run_of_the_grid(served, page) -> None:
    _, links = served
    page.goto(links["rt-s: NBSVM: chart"])
    page.get_by_text("Parallel Coordinates").first.wait_for()
    page.get_by_text("Showing all runs").first.wait_for()
    page.get_by_text("log10_C vs. accuracy_pct").first.wait_for()
    points = page.locator(".scatterlayer path.point")
    end = time.monotonic() + SECONDS / 1000
    while points.count() < 2 * len(GRID) and time.monotonic() < end:
        page.wait_for_timeout(200)
    assert points.count() == 2 * len(GRID)  # over beta and over log10_C
    assert len(GRID) > 10


def test_a_table_of_one_method_has_its_hyper_parameters_alone(served, page) -> None:
    _, links = served
    page.goto(
        links["rt-s: NBSVM: chart"].replace("chart-NBSVM", "table-NBSVM").replace("CHART", "TABLE")
    )
    for column in ("accuracy_pct", "C", "beta"):
        page.get_by_role("columnheader", name=column, exact=True).first.wait_for()
    page.get_by_text(f"{len(GRID)} matching runs").first.wait_for()


def test_a_run_page_has_its_description_figures_and_predictions(served, page) -> None:
    root, links = served
    (run,) = [run for run in runs_of(root, "small-results") if run.data.tags["dataset"] == "rt-s"]
    base = links["results: Results"].split("/runs?")[0]
    page.goto(f"{base}/runs/{run.info.run_id}?workflowType=machine_learning")
    page.get_by_text(STUDY["command"].removeprefix("snakemake ")).first.wait_for()
    page.get_by_text("job_seconds").or_(page.get_by_text("accuracy_low_pct")).first.wait_for()
    page.get_by_role("tab", name="Artifacts").or_(
        page.get_by_role("link", name="Artifacts")
    ).first.click()
    for figure in ("confusion_matrix.png", "tuning.png"):
        page.get_by_text(figure).first.click()
        page.wait_for_function(
            "() => [...document.images].some(i => i.naturalWidth > 300 && i.naturalHeight > 200)"
        )
    page.get_by_text("predictions.json").first.click()
    for column in ("label", "predicted", "correct"):
        page.get_by_role("columnheader", name=column).or_(
            page.get_by_text(column, exact=True)
        ).first.wait_for()
    page.get_by_text("d0-0", exact=True).or_(page.get_by_text('"d0-0"')).first.wait_for()


def test_another_host_name_is_refused(served) -> None:
    _, links = served
    parts = urlsplit(links["results: Results"])
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert b" 403 " in connection.recv(100).split(b"\r\n")[0]


def test_a_folder_without_a_store(tmp_path: Path) -> None:

    with pytest.raises(UserError, match="no tracking store"):
        ui_command(tmp_path)
