import io
import re
import shutil
import subprocess

import pytest
from rich.console import Console

from textbaselines.reporting.report.page import to_html
from textbaselines.reporting.tables.layout import Cell, Table, print_table, to_latex, to_markdown


def wide_table(columns=12):
    header = ("Method", *(f"Dataset{i}" for i in range(columns)))
    row = (Cell("NBSVM-bi"), *(Cell(f"{80 + i}.25", bold=True) for i in range(columns)))
    best = (Cell("MNB-uni"), *(Cell("99.99", bold=True, underline=True) for _ in range(columns)))
    return Table(
        name="wide",
        title="Wide",
        caption="Accuracy in %.",
        header=header,
        groups=((row,), (best,)),
        notes=(("†", "did not converge"),),
        warning="look out",
    )


def printed(table, **options):
    stream = io.StringIO()
    print_table(table, Console(file=stream, **options))
    return stream.getvalue()


def test_a_pipe_gets_plain_text_with_nothing_cut():
    text = printed(wide_table(), width=40)
    assert "\x1b" not in text
    assert "…" not in text
    line = next(line for line in text.splitlines() if line.startswith("NBSVM-bi"))
    assert line.split() == ["NBSVM-bi", *(f"{80 + i}.25*" for i in range(12))]
    assert text.count("99.99**") == 12
    assert "** the best of a column" in text
    assert text.startswith("look out")
    assert "† did not converge" in text


def test_a_terminal_gets_bold_and_underline_and_blocks_that_fit():
    text = printed(wide_table(), width=60, force_terminal=True, color_system="standard")
    assert text.count("\x1b[1;4m") == 12
    assert "*" not in text
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(len(line.rstrip()) for line in bare.splitlines()) <= 60
    assert bare.count("NBSVM-bi") > 1
    for i in range(12):
        assert len(re.findall(rf"Dataset{i}\b", bare)) == 1
        assert f"{80 + i}.25" in bare


def test_a_row_must_fit_under_the_heads():
    with pytest.raises(ValueError, match="2 cells under 3 heads"):
        Table("t", "t", "c", ("a", "b", "c"), (((Cell("1"), Cell("2")),),))


def test_markdown_marks():
    text = to_markdown(wide_table(1))
    assert "| **80.25** |" in text
    assert "| <ins>**99.99**</ins> |" in text
    assert "> **look out**" in text
    assert "<sup>†</sup> did not converge" in text


def test_lines_below_stand_under_their_numbers():
    row = (Cell("MNB"), Cell("80.0", below="± 0.1\npaper 80.1"), Cell("70.0", below="± 0.2"))
    table = Table("t", "t", "c", ("a", "b", "c"), ((row,),))
    assert "80.0<br><sub>± 0.1</sub><br><sub>paper 80.1</sub>" in to_markdown(table)
    assert r"MNB & 80.0 & 70.0 \\" in to_latex(table)
    assert r" & {\scriptsize $\pm$ 0.1} & {\scriptsize $\pm$ 0.2} \\" in to_latex(table)
    assert r" & {\scriptsize paper 80.1} &  \\" in to_latex(table)
    assert "<small>± 0.1</small><small>paper 80.1</small>" in to_html([table], "t")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    page = [
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}",
        r"\begin{document}",
        to_latex(wide_table(4)),
        r"\end{document}",
    ]
    (tmp_path / "page.tex").write_text("\n".join(page), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_terminal_shows_the_smaller_lines_under_the_number():
    cells = ((Cell("A"), Cell("82.4", bold=True, below="81.6–83.1\npaper 82")),)
    table = Table("t", "T", "C.", ("Method", "D"), (cells,))
    lines = [line.split() for line in printed(table, width=60).splitlines()]
    begin = lines.index(["A", "82.4*"])
    assert lines[begin + 1 : begin + 3] == [["81.6–83.1"], ["paper", "82"]]
