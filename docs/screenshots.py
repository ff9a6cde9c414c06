"""Make the pictures of MLflow's pages in docs/images/ from the store of a finished study.

Needs Chromium and the package playwright; the pages are served on this machine alone.
"""

import argparse
import io
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlflow import MlflowClient
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from textbaselines.core import storage
from textbaselines.reporting.tracking.addresses import sqlite_address
from textbaselines.reporting.tracking.ui import links_of_study, ui_command

WIDTH, HEIGHT = 1700, 800
PATIENCE = 240_000  # milliseconds for one thing to appear
COLOURS = 96  # of a picture's palette: it keeps text sharp and the file small


@contextmanager
def served(results: Path) -> Iterator[str]:
    """Serve the store's pages and yield the address of their root."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command, environment = ui_command(results, port)
    server = subprocess.Popen(
        command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)


def final_run(results: Path, study: str) -> tuple[str, str]:
    """Return the experiment and the run of the most accurate cell that has a tuning plot."""
    client = MlflowClient(tracking_uri=sqlite_address(results / "mlflow.db"))
    experiment = client.get_experiment_by_name(f"{study}-results")
    if experiment is None:
        raise SystemExit(f"{study} is not in the store of {results}: run `make track`")
    runs = client.search_runs([experiment.experiment_id], order_by=["metrics.accuracy DESC"])
    for run in runs:
        names = {file.path for file in client.list_artifacts(run.info.run_id)}
        if "tuning.png" in names:
            return str(experiment.experiment_id), str(run.info.run_id)
    raise SystemExit(f"no run of {study} has a grid")


# What a picture must not show: where the store lies on this machine.
HIDE_PATHS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    node.nodeValue = node.nodeValue.replace(/file:\\S*mlflow-artifacts/, "mlflow-artifacts");
  }
}"""


def save(page: Page, path: Path) -> None:
    """Write what the page shows as a PNG of few colours."""
    page.wait_for_timeout(2500)  # drawing has no event to wait for
    page.evaluate(HIDE_PATHS)
    # The panel of MLflow's assistant opens by itself on the right: leave it out.
    header = page.get_by_text("MLflow Assistant")
    box = header.last.bounding_box() if header.count() else None
    width = box["x"] - 50 if box else WIDTH
    picture = Image.open(
        io.BytesIO(page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": HEIGHT}))
    ).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(COLOURS).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Parse the command line and make each picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--study", default="default")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "images")
    args = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if chromium is None:
        raise SystemExit("no Chromium here: apt-get install chromium")
    described = args.results / "studies" / f"{args.study}.json"
    for file in (described, args.results / "mlflow.db"):
        if not file.is_file():
            raise SystemExit(f"there is no {file}: run the study first (`make` for the default)")
    study = storage.read_json(described)
    experiment, run = final_run(args.results, args.study)
    with served(args.results) as root, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        links = links_of_study(args.results, study, root)
        page.goto(links[0][1])
        page.get_by_role("columnheader", name="accuracy_pct").first.wait_for()
        save(page, args.output / "results.png")
        page.goto(next(address for name, address in links if "chart" in name))
        page.get_by_text("Parallel Coordinates").first.wait_for()
        save(page, args.output / "chart.png")
        page.goto(f"{root}/#/experiments/{experiment}/runs/{run}?workflowType=machine_learning")
        page.get_by_text("Run it again").first.wait_for()
        save(page, args.output / "run.png")
        page.get_by_role("tab", name="Artifacts").or_(
            page.get_by_role("link", name="Artifacts")
        ).first.click()
        for name in ("tuning.png", "confusion_matrix.png"):
            page.get_by_text(name).first.click()
            page.wait_for_function(
                "() => [...document.images].some(i => i.naturalWidth > 300 && i.complete)"
            )
            save(page, args.output / name)
        page.get_by_text("predictions.json").first.click()
        page.get_by_role("columnheader", name="predicted").or_(
            page.get_by_text("predicted", exact=True)
        ).first.wait_for()
        save(page, args.output / "predictions.png")
        browser.close()


if __name__ == "__main__":
    main()
