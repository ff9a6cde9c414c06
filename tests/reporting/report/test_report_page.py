"""The report in a real browser: offline, sortable, readable on a phone and in print.

Needs Chromium (Debian's package, or any other in the PATH) and the package playwright.
"""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from textbaselines.analysis.duplicates import LEAK_COLUMNS
from textbaselines.core.csv_tables import to_csv
from textbaselines.datasets.audit import audit
from textbaselines.datasets.corpus import Corpus
from textbaselines.reporting.figures.accuracy import accuracy_figure, write_figure
from textbaselines.reporting.figures.cost_front import cost_front, cost_front_figure
from textbaselines.reporting.report.blocks import Picture, Results, Section
from textbaselines.reporting.report.page import render
from textbaselines.reporting.report.sections import sections_of
from textbaselines.reporting.tables.comparison import long_table
from textbaselines.reporting.tables.data_table import data_table, near_duplicates_table

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
browser_test = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
    pytest.mark.xdist_group("browser"),
]
NASTY = "<script>document.title = 'taken'</script><img src=x onerror=alert(1)> & “quoted”"
STUDY = {
    "name": "s",
    "title": "A small study <b>of two sets</b>",
    "command": "snakemake --cores all --configfile 's.yaml'",
    "tracking": "none",
    "tables": {"decimals": 1},
    "control": "M0-uni",
    "contrasts": [],
    "contrasts_declared": True,
    "datasets": [
        {"name": "d", "title": "First", "protocol": "10-fold cross-validation"},
        {"name": "e", "title": "Second", "protocol": "10-fold cross-validation"},
    ],
    "representations": [{"name": "uni", "title": "uni"}, {"name": "bi", "title": "bi"}],
    "methods": [{"name": f"M{i}", "title": f"M{i}"} for i in range(6)],
}
KEYS = [
    {"dataset": d["name"], "representation": r["name"], "method": m["name"]}
    for d in STUDY["datasets"]
    for m in STUDY["methods"]
    for r in STUDY["representations"]
]


def made(folder: Path) -> list[Section]:
    """Write the files of a small study; return the sections of its report."""
    files = []

    def write(file: str, frame: pd.DataFrame) -> None:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_csv(frame), encoding="utf-8")
        files.append(file)

    def draw(stem: str, make, *of, **options) -> None:
        narrow, _ = make(*of, **options, narrow=True)
        written = write_figure(folder / stem, *make(*of, **options), narrow)
        files.extend(str(path.relative_to(folder)) for path in written)

    # 80.0 and 9.5: sorted as numbers, not as words.
    accuracy = [(9.5 + 6.4 * (5 * i % 12)) / 100 for i in range(len(KEYS))]
    cells = pd.DataFrame(
        [
            {
                **key,
                **{"selection": "fixed", "params": "{}", "accuracy": a, "low": a - 0.01},
                **{"high": a + 0.01, "sd": 0.01, "draws": 1, "documents": 900},
                **{"macro_f1": a, "macro_f1_low": float("nan"), "macro_f1_high": float("nan")},
                **{
                    "above_majority": True,
                    "rmse": float("nan"),
                    "converged": True,
                    "failure": None,
                },
            }
            for key, a in zip(KEYS, accuracy, strict=True)
        ]
    )
    (folder / "evaluation").mkdir()
    cells.to_parquet(folder / "evaluation/cells.parquet")
    write("tables/comparison.csv", long_table(cells, STUDY))
    draw("figures/accuracy", accuracy_figure, cells, STUDY, interval="Wilson")
    costs = pd.DataFrame(
        [
            {
                **key,
                **{"fits": 10, "fit_seconds": 0.001 * (i % 12 + 1), "predict_microseconds": 2.0},
                **{"peak_mebibytes": 100.0, "job_seconds": 1.0, "features": 10},
                "model_bytes": 88.0,
            }
            for i, key in enumerate(KEYS)
        ]
    )
    write("tables/costs.csv", costs)
    front = cost_front(cells, costs)
    write("tables/cost_front.csv", front)
    draw("figures/cost-front", cost_front_figure, front, STUDY)
    leak = [{**key, **dict.fromkeys(LEAK_COLUMNS[3:], 0.5)} for key in KEYS[:3]]
    leak.insert(1, {**leak[0], "representation": "selected", "cost_low_points": 0.1})
    write("analysis/train_test_overlap.csv", pd.DataFrame(leak))
    texts = ["a good film", "A good film!", "a bad film", "nothing new"]
    frame = pd.DataFrame({"id": list("1234"), "text": texts, "label": ["pos", "pos", "neg", "neg"]})
    frame = frame.assign(rating=float("nan"), split="", group=list("abcd"))
    audits = {"d": audit(Corpus(frame, {}, 0, 0, "0" * 64))}
    write("tables/data.csv", data_table(audits))
    write("tables/near_duplicates.csv", near_duplicates_table(audits))
    hard = {"dataset": "d", "id": "007", "label": "pos", "predicted": "neg", "wrong_methods": 6}
    hard |= {"methods": 6, "share_wrong": 1.0, "text": NASTY + " and on" * 30}
    write("analysis/hard_documents.csv", pd.DataFrame([hard]))
    return sections_of(Results(folder, frozenset(files)), STUDY, folder)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a small study, beside its files."""
    folder = tmp_path_factory.mktemp("results")
    sections = made(folder)
    page = folder / "reports" / "s.html"
    page.parent.mkdir()
    page.write_text(render(STUDY["title"], "A lead.", sections, "../"), encoding="utf-8")
    return page, sections


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, report):
    """The report, opened; the test fails when it asks anything or its console complains."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(60_000)
    asked, told = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    page.goto(report[0].as_uri())
    yield page
    page.close()
    assert told == []
    assert [url for url in asked if not url.startswith("data:")] == [report[0].as_uri()]


class TestBrowser:
    """What only a browser can tell."""

    pytestmark = browser_test

    def test_every_figure_has_a_name_and_its_words(self, page, report) -> None:
        pictures = [b for s in report[1] for b in s.blocks if isinstance(b, Picture)]
        assert page.locator("figure").count() == len(pictures) == 2
        for picture in pictures:
            drawn = page.get_by_role("img", name=picture.caption)
            assert drawn.count() == 1
            figure = page.locator("figure").filter(has=drawn)
            assert figure.locator("details pre").text_content().strip() == picture.words.strip()
            box = drawn.bounding_box()
            assert box["width"] > 300
            assert box["height"] > 100

    def test_ids_are_unique(self, page) -> None:
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids)) > 20

    def test_text_of_documents_stays_text(self, page) -> None:
        assert page.title() == STUDY["title"]
        assert page.get_by_text(NASTY[:40]).count() == 1
        assert page.locator("main script, main img").count() == 0

    def test_tables_sort_by_number_and_go_back(self, page) -> None:
        table = page.locator("#accuracy table")
        first = "[...document.querySelectorAll('#accuracy tbody tr')]"
        first += ".map(r => r.cells[1].firstChild.textContent)"
        before = page.evaluate(first)
        head = table.get_by_role("columnheader", name="First")
        assert head.get_attribute("aria-sort") == "none"
        button = head.get_by_role("button")
        button.click()
        assert head.get_attribute("aria-sort") == "descending"
        descending = page.evaluate(first)
        assert descending == sorted(before, key=float, reverse=True) != before
        assert descending[-1] == "9.5"
        button.focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert page.evaluate(first) == descending[::-1]
        button.click()
        assert head.get_attribute("aria-sort") == "none"
        assert page.evaluate(first) == before

    def test_a_phone_has_no_sideways_scroll(self, page) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        width = "document.documentElement.scrollWidth"
        assert page.evaluate(width) <= 390
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate(width) <= 390

    def test_a_phone_shows_every_figure_whole_and_legible(self, page) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        for figure in page.locator("figure").all():
            (drawn,) = figure.get_by_role("img").all()
            box = drawn.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            # Letters keep nine tenths of their size: a point is 4/3 of a CSS pixel.
            natural = drawn.evaluate("e => parseFloat(e.style.getPropertyValue('--natural'))")
            assert box["width"] > 0.9 * natural * 4 / 3
        # One panel below the other, each with the names of its rows.
        accuracy = page.locator("figure").first.locator(".narrow svg")
        panels = accuracy.locator("[id*='-axes_']").evaluate_all(
            "es => es.map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.bottom])"
        )
        (_, _, bottom), (_, top, _) = sorted(panels, key=lambda panel: panel[1])
        assert top > bottom
        page.set_viewport_size({"width": 1200, "height": 900})
        assert not accuracy.is_visible()

    def test_a_figure_wider_than_a_phone_scrolls_from_its_labels(self, page, tmp_path) -> None:
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}pt" height="90pt" {1}/>'
        for name in ("f", "f-narrow"):
            text = svg.format(600, 'viewBox="0 0 600 90"')
            (tmp_path / f"{name}.svg").write_text(text)
        picture = Picture("f", "A caption", tmp_path / "f.svg", "w", (), tmp_path / "f-narrow.svg")
        page.set_viewport_size({"width": 390, "height": 800})
        page.set_content(render("t", "l", [Section("a", "A", (picture,))], ""))
        box = page.locator(".narrow svg").bounding_box()
        assert box["width"] == pytest.approx(800)
        assert 0 <= box["x"] < 30
        assert page.locator(".scroll").evaluate("e => e.scrollWidth > e.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_print(self, page, tmp_path) -> None:
        page.pdf(path=tmp_path / "report.pdf", format="A4")
        assert (tmp_path / "report.pdf").stat().st_size > 20_000
        page.emulate_media(media="print")
        assert not page.locator(".narrow").first.is_visible()
        assert page.locator(".wide").first.is_visible()
        assert not page.locator("nav").is_visible()
        # A sheet of A4 within its margins, in CSS pixels: what is wider would be cut off.
        page.set_viewport_size({"width": 703, "height": 1000})
        wide = (
            "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        )
        assert page.evaluate(f"{wide}.map(e => e.getAttribute('aria-labelledby'))") == []


def test_every_source_is_a_file_beside_the_page(report) -> None:
    page, sections = report
    text = page.read_text(encoding="utf-8")
    sources = {s.file for section in sections for b in section.blocks for s in _sources(b)}
    assert {
        "tables/comparison.csv",
        "tables/cost_front.csv",
        "analysis/train_test_overlap.csv",
    } <= sources
    for file in sources:
        assert f'href="../{file}"' in text
        assert (page.parent / ".." / file).is_file()


def _sources(block):
    return getattr(block, "sources", ())


def test_what_is_absent_is_said(report) -> None:
    _, sections = report
    absent = {section.name for section in sections if not section.blocks}
    assert absent == {"difference", "search", "learning-curves", "calibration", "lengths"}
    text = report[0].read_text(encoding="utf-8")
    assert "Not made in this study (no significance/contrasts.csv)." in text


def test_the_command_and_the_answer_are_told(report) -> None:
    text = report[0].read_text(encoding="utf-8")
    assert "snakemake --cores all --configfile &#39;s.yaml&#39;" in text
    assert "First: M3-bi has the highest accuracy, 79.9 %" in text
    assert json.dumps(STUDY["title"]) not in text


def test_a_huge_figure_is_shown_as_its_png(tmp_path) -> None:
    (tmp_path / "f.svg").write_text("<svg>" + " " * 700_000 + "</svg>")
    (tmp_path / "f.png").write_bytes(b"\x89PNG")
    picture = Picture("figure-f", 'A "caption"', tmp_path / "f.svg", "words")
    text = render("t", "l", [Section("a", "A", (picture,))], "")
    assert 'src="data:image/png;base64,iVBORw=="' in text
    assert "A &#34;caption&#34;" in text
    assert len(text) < 20_000
