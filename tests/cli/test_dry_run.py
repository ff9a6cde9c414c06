"""Jobs read from what a dry run of Snakemake prints."""

import pytest

from textbaselines.cli.dry_run import read_jobs
from textbaselines.core.errors import UserError

PRINTED = """\
Building DAG of jobs...
Job stats:
job             count
------------  -------
train_method        1
write_tables        1
total               3

[Mon Nov 30 01:48:25 2026]
localrule describe_study:
    output: results/studies/small.json
    wildcards: study=small
rule train_method:
    input: a.py, b.parquet
    reason: Missing output files: rule made of words
    wildcards: study=small, dataset=cr, representation=bi, method=SVM
    resources: tmpdir=/tmp
rule all:
    input: x
"""


def test_rules_and_wildcards():
    assert read_jobs(PRINTED) == [
        ("describe_study", {"study": "small"}),
        (
            "train_method",
            {"study": "small", "dataset": "cr", "representation": "bi", "method": "SVM"},
        ),
        ("all", {}),
    ]


def test_nothing_to_be_done():
    assert read_jobs("Building DAG of jobs...\nNothing to be done (all requested files...).") == []


def test_an_answer_that_is_not_understood():
    with pytest.raises(UserError, match="2 jobs"):
        read_jobs(PRINTED.replace("rule all:", "a job of rule all:"))
