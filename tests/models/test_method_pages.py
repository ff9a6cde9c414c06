"""The pages on methods: their code runs, their index is complete."""

import re

import pytest

from textbaselines.models.registry import METHODS


def test_the_code_of_the_index_runs(repository, capsys):
    page = (repository / "docs/methods/README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "['pos' 'neg']"
    assert printed[1] == "1"
    assert printed[2:] == [f"{{'beta': {beta}}} ['pos'] True None" for beta in (0.0, 0.25, 1.0)]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_has_its_page(repository, name):
    index = (repository / "docs/methods/README.md").read_text(encoding="utf-8")
    family = METHODS[name]
    row = rf"\| `{name}` \| {family.title} \| `{family.estimator.__name__}` \| \[\S+\]\((\S+)\) \|"
    (page,) = re.findall(row, index)
    text = (repository / "docs/methods" / page).read_text(encoding="utf-8")
    assert f"`{name}`" in text.splitlines()[0]
    for parameter in family.parameters:
        assert f"`{parameter}" in text or f"{parameter}:" in text, parameter


def test_the_code_of_the_semi_supervised_page_runs(repository, capsys):
    page = (repository / "docs/methods/semi-supervised-nb.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(block, {})
    assert capsys.readouterr().out == "['pos' 'neg']\n"
