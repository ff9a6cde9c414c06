"""SVG figures inside a page: no name that collides, no style that leaks, nothing from elsewhere."""

import re
import xml.etree.ElementTree as ET
from typing import Final

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_DROPPED = {"metadata", "style", "script", "title", "desc", "foreignObject", "image"}


def inline_svg(text: str, prefix: str, labelled_by: str) -> str:
    """Return a figure's SVG as an element of an HTML page.

    Every id gets a prefix, and so does what refers to it, for two figures of one page may use the
    same ids. The style sheet that matplotlib writes for every element is set on the root, from
    where it is inherited, so that it does not leak to other figures.

    Parameters
    ----------
    text : str
        An SVG file of :func:`textbaselines.reporting.figures.accuracy.write_figure`.
    prefix : str
        Unique on the page.
    labelled_by : str
        Id of the element that names the figure.

    Raises
    ------
    ValueError
        When the text is no SVG.
    """
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise ValueError(f"not an SVG file: {error}") from error
    if root.tag != f"{{{_SVG}}}svg":
        raise ValueError(f"not an SVG file: its root is {root.tag}")
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in _DROPPED:
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, f"{prefix}-{value}")
            elif name in ("href", f"{{{_XLINK}}}href"):
                del element.attrib[name]
                if value.startswith("#"):
                    element.set("href", f"#{prefix}-{value[1:]}")
            elif "url(#" in value:
                element.set(name, re.sub(r"url\(#", f"url(#{prefix}-", value))
    width, height = (root.attrib.pop(side, "") for side in ("width", "height"))
    style = "stroke-linejoin: round; stroke-linecap: butt"
    if width.endswith("pt") and height.endswith("pt"):
        style += f"; --natural: {width}; max-width: {width}"
    root.set("style", style)
    root.set("role", "img")
    root.set("aria-labelledby", labelled_by)
    return ET.tostring(root, encoding="unicode")
