"""Corpora whose words are not between spaces: what is refused, what passes, and what to do."""

import csv
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from textbaselines.core.errors import UserError
from textbaselines.datasets.corpus import Corpus, write_corpus
from textbaselines.study.definition import read_study
from textbaselines.text.tokenising import tokenise
from textbaselines.text.word_boundaries import check_word_boundaries

CHINESE = ["房间很大，服务也不错。", "早餐太差了，下次不会再来。", "位置很好 交通方便"]
SEGMENTED = ["房间 很 大 ， 服务 也 不错 。", "早餐 太 差 了 ， 下次 不会 再 来 。", "位置 很 好"]
ENGLISH = ["The room is large and the service is good.", "Breakfast was bad: never again.", "fine"]
WORDS = {"family": "words"}
SPACES = [
    WORDS,
    {"family": "whitespace"},
    {"family": "wang_manning", "reading": "spaces"},
    {"family": "wang_manning", "reading": "filtered"},
]


def check(texts: list[str], options: dict, language: str = "en") -> None:
    tokens = tokenise([str(number) for number in range(len(texts))], texts, options)
    check_word_boundaries(tokens, options, "hotels", "mine", language)


def refused(texts: list[str], options: dict, language: str = "en") -> str:
    with pytest.raises(UserError) as caught:
        check(texts, options, language)
    return str(caught.value)


@pytest.mark.parametrize("options", SPACES, ids=str)
def test_text_without_spaces_is_refused_with_its_measure(options: dict) -> None:
    message = refused(CHINESE, options, "zh")
    for part in (
        "dataset hotels (language: zh in its file), study key tokenizers.mine",
        "letters are Han 100 %",
        "characters: {family: characters}",
        "unsegmented: accept",
    ):
        assert part in message
    check(CHINESE, {**options, "unsegmented": "accept"})
    with pytest.raises(UserError, match=r"'refuse', 'accept'"):
        check(CHINESE, {**options, "unsegmented": "yes"})


def test_the_measure_is_that_counted_by_hand() -> None:
    # Tokens of 4 + 5, 5 + 6 and 4 + 4 letters and two full stops, commas as tokens between.
    message = refused(CHINESE, WORDS)
    assert "in tokens of 4.7 letters on average" in message  # 28 / 6
    # Tokens 4, 4, 2; characters 11, 13, 8.
    assert "of the median document: 4 and 11" in message


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("このホテルの部屋はとても広くて快適でした", "Hiragana"),
        ("ห้องพักกว้างมากและบริการดี", "Thai"),
        ("ຫ້ອງພັກກວ້າງຫຼາຍແລະບໍລິການດີ", "Lao"),
        ("បន្ទប់ធំទូលាយហើយសេវាកម្មល្អ", "Khmer"),
        ("အခန်းကကျယ်ပြီးဝန်ဆောင်မှုကောင်းတယ်", "Myanmar"),
    ],
)
def test_scripts_without_spaces(text: str, script: str) -> None:
    assert f"{script} " in refused([text] * 3, WORDS)
    # Few words of such a script in English text are fine.
    check([f"{sentence} {text}" for sentence in ENGLISH * 3] + ENGLISH * 9, WORDS)
    check([text] * 3, {"family": "characters"})


@pytest.mark.parametrize(
    "texts",
    [
        SEGMENTED,
        ENGLISH,
        ["방이 넓고 서비스가 좋았습니다", "조식이 별로였어요"],  # Korean has spaces
        ["ไทย\u200bดี\u200bมาก"] * 3,  # zero-width spaces between the words
        ["not good", "very bad indeed", "excellent"],  # phrases
        ["Kraftfahrzeughaftpflichtversicherung"] * 3,
        ["", " ", ""],
        [],
    ],
)
@pytest.mark.parametrize("options", SPACES, ids=str)
def test_text_with_spaces_passes(texts: list[str], options: dict) -> None:
    if "\u200b" in "".join(texts) and options["family"] == "wang_manning":
        options = {**options, "normalise": "NFC"}
    check(texts, options)


def test_long_texts_of_one_token_are_refused_in_any_script() -> None:
    joined = [sentence.replace(" ", "_") * 2 for sentence in ENGLISH[:2]]
    message = refused(joined, {"family": "whitespace"})
    assert "of the median document: 1 and 73" in message  # 2 * (42 + 31) / 2
    check(joined, {"family": "whitespace", "unsegmented": "accept"})


def test_the_rule_stops_and_the_lines_of_the_message_are_a_study(
    repository: Path, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "text": CHINESE, "label": ["p", "n", "p"]})
    frame = frame.assign(rating=float("nan"), split="", group=["1", "2", "3"])
    write_corpus(tmp_path / "hotels/corpus.parquet", Corpus(frame, {}, 0, 0, ""))
    output = tmp_path / "mine.npz"
    arguments = ["--corpus", tmp_path / "hotels/corpus.parquet", "--output", output]
    arguments += ["--dataset", "hotels", "--threads", "1"]
    arguments += ["--tokenizer", '{"family":"words"}', "--language", "zh"]
    script = repository / "workflow/scripts/tokenise.py"
    run = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
    assert run.returncode == 1
    assert not output.exists()
    assert "Traceback" not in run.stderr
    assert "dataset hotels (language: zh in its file), study key tokenizers.mine" in run.stderr
    lines = run.stderr.partition("study file:\n")[2].partition("    or put")[0]
    study = {
        **{
            "name": "s",
            "title": "S",
            "datasets": ["hg-nyt"],
            "methods": {"MNB": {"family": "mnb"}},
        },
        **yaml.safe_load(lines),
    }
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    made = read_study([path], study, repository)
    check(CHINESE, made.tokenizer("characters", "hotels"))


@pytest.mark.mirror
def test_the_chinese_hotel_reviews(mirror: Path) -> None:
    path = mirror / "secondary/chnsenticorp/ChnSentiCorp_htl_all.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        texts = [row["review"] for row in csv.DictReader(stream)]
    assert "letters are Han 99 %, in tokens of 10.0 letters on average" in refused(texts, WORDS)
    check(texts, {"family": "characters"})
    check([" ".join(text) for text in texts], WORDS)
