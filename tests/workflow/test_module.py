"""The workflow as a module of another one, with a config and a prefix of its own."""

import json
from pathlib import Path

import pytest
import yaml

from textbaselines.core.result_paths import Results

pytestmark = pytest.mark.xdist_group("workflow")

STUDY = {
    "name": "inner",
    "title": "A study of another workflow",
    "datasets": ["hg-nyt"],
    "max_documents": 40,
    "tokenizers": {"words": {"family": "words"}},
    "representations": {
        "uni": {
            "tokenizer": "words",
            "ngrams": [1, 1],
            "weighting": "binary",
            "unk": {"policy": "drop"},
        }
    },
    "methods": {"MNB": {"family": "mnb"}, "SVM": {"family": "svm", "grid": {"C": [0.1, 1.0]}}},
    "protocol": {"cv": {"folds": 3}, "grouped": "both"},
}

OUTER = """
configfile: "outer.yaml"

module baselines:
    snakefile:
        {snakefile}
    config:
        config["baselines"]
    prefix:
        "my_results"

use rule * from baselines as baselines_*

rule report:
    input:
        rules.baselines_all.input,
        table="my_results/results/inner-trial40/tables/comparison.csv",
    output:
        "summary.csv",
    default_target: True
    shell:
        "cp {{input.table}} {{output}}"
"""


def test_a_module_has_its_own_config_and_prefix(fresh, new_project, tmp_path: Path) -> None:
    outer = new_project(tmp_path / "outer")
    snakefile = fresh.folder / "Snakefile"
    (outer.folder / "Snakefile").write_text(OUTER.format(snakefile=json.dumps(str(snakefile))))
    (outer.folder / "outer.yaml").write_text(yaml.safe_dump({"baselines": STUDY, "other": 1}))
    raw = Results(outer.folder / "my_results" / "results").raw
    raw.parent.mkdir(parents=True)
    raw.symlink_to(Results(fresh.folder / "results").raw)
    outer.run("--cores", "2")
    assert not (outer.folder / "results").exists()
    module = Results(outer.folder / "my_results" / "results").study("inner-trial40")
    assert (outer.folder / "summary.csv").read_bytes() == module.table("comparison").read_bytes()
    # The same study by itself has the same numbers.
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(STUDY))
    fresh.run("--configfile", str(study), "--cores", "2")
    alone = Results(fresh.folder / "results").study("inner-trial40")
    for name in ("comparison", "contrasts"):
        assert alone.table(name, "md").read_bytes() == module.table(name, "md").read_bytes()
    assert alone.cells.read_bytes() == module.cells.read_bytes()
    # A changed config of the outer workflow is the module's: it trains that method again.
    changed = {
        **STUDY,
        "methods": {**STUDY["methods"], "MNB": {"family": "mnb", "grid": {"alpha": [0.5]}}},
    }
    (outer.folder / "outer.yaml").write_text(yaml.safe_dump({"baselines": changed}))
    assert outer.planned_by(())["baselines_train"] == 1
    mistaken = {**STUDY, "titel": "x"}
    (outer.folder / "outer.yaml").write_text(yaml.safe_dump({"baselines": mistaken}))
    printed = outer.run("-n", check=False)
    assert "unknown key 'titel'" in printed
    assert "the config of the module" in printed
    assert "Traceback" not in printed
