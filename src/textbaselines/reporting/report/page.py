"""A report as one HTML page that needs no other file and asks nothing of the network."""

import base64
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from textbaselines.reporting.report.blocks import Picture, Section, Sheet, sort_key
from textbaselines.reporting.report.inline_svg import inline_svg
from textbaselines.reporting.tables.layout import Table, full_caption, html_cell

_MOST_SVG_BYTES = 600_000
"""A figure with a larger SVG is shown as its PNG, so that the page opens on a phone."""

_PHONE = 320
"""Points of width that a phone can shrink to itself and leave legible; what is wider scrolls."""


def render(title: str, lead: str, sections: Sequence[Section], prefix: str) -> str:
    """Return the page.

    Parameters
    ----------
    title, lead : str
        The heading, and the line under it, if any.
    sections : sequence of Section
        Figures are read from their files.
    prefix : str
        What leads from the page to the folder of results: ``"../"``, or empty.
    """
    own = files(__package__)
    css, js, template = (
        own.joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js", "page.html.jinja")
    )
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(template).render(
        title=title,
        lead=lead,
        sections=sections,
        prefix=prefix,
        css=Markup(css),
        js=Markup(js),
        drawn=_drawn,
        show=html_cell,
        sort_key=sort_key,
        full_caption=full_caption,
    )


def to_html(tables: Sequence[Table], title: str) -> str:
    """Return a page of tables alone, each a section of its own."""
    sections = [Section(table.name, table.title, (Sheet(table),)) for table in tables]
    return render(title, "", sections, "")


def _drawn(picture: Picture) -> Markup:
    """Return the figure, and the one for a phone if there is one; the style sheet shows either."""
    wide = _as_svg(picture.path, picture.name, picture) or _as_png(picture)
    narrow = picture.narrow and _as_svg(picture.narrow, f"{picture.name}-narrow", picture)
    if not narrow:
        return Markup('<div class="alone">{}</div>').format(wide)
    size = " large" if _width(narrow) > _PHONE else ""
    return Markup('<div class="wide">{}</div>\n<div class="narrow{}">{}</div>').format(
        wide, size, narrow
    )


def _width(svg: str) -> float:
    """Return the natural width of an SVG of this page in points, 0 for one that says none."""
    found = re.search(r"--natural: ([0-9.]+)pt", svg)
    return float(found[1]) if found else 0.0


def _as_svg(path: Path, prefix: str, picture: Picture) -> Markup | None:
    if path.stat().st_size > _MOST_SVG_BYTES:
        return None
    return Markup(inline_svg(path.read_text(encoding="utf-8"), prefix, f"{picture.name}-caption"))


def _as_png(picture: Picture) -> Markup:
    caption = f"{picture.name}-caption"
    data = base64.b64encode(picture.path.with_suffix(".png").read_bytes()).decode("ascii")
    return Markup(
        '<img role="img" aria-labelledby="{}" alt="{}" src="data:image/png;base64,{}">'
    ).format(caption, picture.caption, data)
