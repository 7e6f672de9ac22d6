"""The report as a whole: every kind of run, and what is missing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InputError, WorkError
from neardup.report import report_data, write_report
from neardup.report.page import page
from neardup.result import Result
from tests.report.conftest import crawl, run_over


def levels(data, level):
    return [check["text"] for check in data["checks"] if check["level"] == level]


def test_the_first_lines_say_how_every_removal_is_proven(crawled):
    data = report_data(crawled)
    assert {row["how"] for row in data["proof"]} == {"identity", "exact"}
    assert sum(row["documents"] for row in data["proof"]) == data["counts"]["removed"]
    assert any(text.startswith("Every removed document was measured") for text in levels(data, "good"))
    found = "The search for candidates finds at least 99.1% of the pairs that reach 0.8 (computed; neardup audit "
    assert found + "measures it)." in levels(data, "good")
    assert [c["level"] for c in data["checks"]] == sorted(
        (c["level"] for c in data["checks"]), key=("look", "good", "note").index
    )


def test_data_is_plain_and_the_same_again(crawled):
    first, again = report_data(crawled), report_data(crawled)
    assert json.loads(json.dumps(first)) == json.loads(json.dumps(again))


def test_an_opened_run_gives_the_same_report(crawled):
    out = Path(crawled.gathered.engine.work.folder).parent
    there, opened = report_data(crawled), report_data(Result.open(out))
    for data in (there, opened):
        data.pop("run")
    assert json.loads(json.dumps(opened)) == json.loads(json.dumps(there))


@pytest.mark.parametrize("name", neardup.recipe_names())
def test_every_recipe_has_a_report(name, tmp_path):
    result = run_over(tmp_path, crawl(90), recipe=name)
    data = report_data(result)
    assert page(data, "no charts").count("</html>") == 1
    assert sum(n for *_, n in data["histogram"]["bins"]) + data["histogram"]["same_tokens"] == data["counts"]["removed"]
    assert data["thresholds"]["higher"][0][1] == data["counts"]["removed"]
    assert data["run"]["recipe_name"] == name
    if result.recipe.clusters.method == "components":
        chains = (result.decision.score < data["thresholds"]["threshold"] - 1e-9).any()
        assert chains == any("chains" in text for text in levels(data, "look"))


@pytest.mark.parametrize(
    "texts",
    [[], ["only one document is here"], ["", "  "], ["one that is alone in here", "and another of other words"]],
    ids=["empty", "one", "blank", "nothing removed"],
)
def test_runs_without_removals(texts, tmp_path):
    result = (
        run_over(tmp_path, [{"id": str(i), "text": text} for i, text in enumerate(texts)])
        if texts
        else neardup.dedup([])
    )
    write_report(result, tmp_path / "report.html")
    data = report_data(result)
    assert data["counts"]["removed"] == 0
    assert data["groups"] == data["mirrors"] or data["mirrors"] is None
    assert any("Nothing was removed" in text for text in levels(data, "note"))


def test_all_documents_the_same(run):
    data = report_data(run([{"id": str(i), "text": "the same words in all of these documents"} for i in range(60)]))
    assert data["group_sizes"] == [[60, 1]]
    looks = levels(data, "look")
    assert any("largest group holds 60" in text for text in looks)
    assert any("More than half" in text for text in looks)
    assert "Every removed document has the same tokens as the kept one (59)." in levels(data, "good")


def test_a_source_that_lost_half_is_named(tmp_path):
    same = [{"id": f"s{i}", "text": "again and again the same few words"} for i in range(30)]
    for name, rows in (("copies.jsonl", same), ("fine.jsonl", [r for r in crawl(60) if r["text"]])):
        (tmp_path / name).write_text("".join(json.dumps({"id": r["id"], "text": r["text"]}) + "\n" for r in rows))
    data = report_data(neardup.dedup([tmp_path / "copies.jsonl", tmp_path / "fine.jsonl"]))
    assert any("copies.jsonl lost more than half of its documents (29 of 30)" in text for text in levels(data, "look"))


def test_unverified_and_estimated_removals_are_called_so(tmp_path):
    unverified = report_data(run_over(tmp_path / "a", crawl(120), verify="none"))
    assert any("were not measured" in text for text in levels(unverified, "look"))
    estimated = report_data(run_over(tmp_path / "b", crawl(120), verify="sketch"))
    assert any("rest on estimates from 140 samples, ± 0.034" in text for text in levels(estimated, "note"))


def test_a_recipe_that_finds_too_little_is_told(run):
    recipe = neardup.Recipe.for_threshold(0.8, recall=0.99).changed(sketch_k=4)
    assert any("fewer than asked for" in text for text in levels(report_data(run(crawl(60), recipe=recipe)), "look"))


def test_close_removals_are_counted_and_none_is_called_none(tmp_path):
    def sentence(rows, **settings):
        data = report_data(run_over(tmp_path / str(len(rows)), rows, **settings))
        [(level, text)] = [(c["level"], c["text"]) for c in data["checks"] if "within 0.05" in c["text"]]
        return level, text

    words = [f"w{i}" for i in range(100)]
    rows = [{"id": "a", "text": " ".join(words)}, {"id": "b", "text": " ".join([*words[:-1], "end"])}]
    assert sentence(rows) == ("good", "No removal lies within 0.05 of the threshold.")
    rows.append({"id": "c", "text": " ".join([*words[:85], "one", "two"])})
    assert sentence(rows) == (
        "note",
        "1 of the removals (50.0%) lies within 0.05 of the threshold: look at some of them.",
    )


def shop(*, urls=True, pages=4):
    """Products that one template describes in words of their own, 96 of 112 shingles of two are common: 0.857; and one
    page of other words."""
    common = " ".join(f"w{i}" for i in range(100))
    rows = [{"id": f"p{i}", "text": f"{common} {' '.join(f'{i}y{j}' for j in range(8))}"} for i in range(pages)]
    rows.append({"id": "else", "text": " ".join(f"x{i}" for i in range(100))})
    return [{**r, "url": f"https://shop.example.org/{r['id']}"} if urls else r for r in rows]


def test_two_pages_of_one_site_near_the_threshold_are_to_be_looked_at(tmp_path):
    data = report_data(run_over(tmp_path / "a", shop()))
    [check] = [c for c in data["checks"] if "filled in twice" in c["text"]]
    assert check["level"] == "look"
    assert check["text"].startswith("3 removals are two pages of one site within 0.1 of the threshold (100.0% of all)")
    assert check["groups"] == "site"
    assert [g["kept"]["id"] for g in data["groups"] if "site" in g["strata"]] == ["p0"]


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        (shop(urls=False), {}),
        ([{**r, "url": f"https://{r['id']}.example.org/"} for r in shop()], {}),
        ([{**r, "url": "https://shop.example.org/one"} for r in shop()], {}),
        (shop(), {"threshold": 0.6}),
        (shop(), {"recipe": "web"}),
    ],
    ids=["no URLs", "many sites", "versions of one page", "far from the threshold", "a recipe that asks more"],
)
def test_other_removals_are_not(rows, settings, tmp_path):
    data = report_data(run_over(tmp_path, rows, **settings))
    assert not any("filled in twice" in c["text"] for c in data["checks"])
    assert not any("site" in g["strata"] for g in data["groups"])


def test_few_pages_of_one_site_among_many_removals_are_not_told(tmp_path):
    copies = [{"id": f"c{i}", "text": "the same few words", "url": f"https://c.example.org/{i}"} for i in range(500)]
    told = []
    for pages in (5, 6):
        data = report_data(run_over(tmp_path / str(pages), [*copies, *shop(pages=pages)]))
        told.append(any("filled in twice" in c["text"] for c in data["checks"]))
    assert told == [False, True]


def test_commands_name_the_folder(crawled, tmp_path):
    out = Path(crawled.gathered.engine.work.folder).parent
    assert report_data(crawled)["out"] == str(out)
    odd = tmp_path / "a folder; rm"
    run_over(odd, crawl(30))
    assert report_data(Result.open(odd / "out"))["out"] == f"'{odd / 'out'}'"
    assert report_data(neardup.dedup(["in memory", "in memory"]))["out"] is None


def test_skipped_documents_are_told(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "text": "fine words here"}\nnot json\n')
    data = report_data(neardup.dedup(str(tmp_path / "rows.jsonl"), on_error="skip"))
    assert any("Could not be read or compared: 1 not JSON" in text for text in levels(data, "look"))


def test_a_table_in_memory(tmp_path):
    rows = crawl(60)
    result = neardup.dedup(pa.table({"id": [r["id"] for r in rows], "text": [r["text"] for r in rows]}))
    write_report(result, tmp_path / "report.html")
    assert report_data(result)["templates"]["sample"] > 0


@pytest.mark.parametrize("how", ["gone", "changed"])
def test_inputs_that_are_not_what_they_were(how, tmp_path):
    run_over(tmp_path, crawl(120))
    path = tmp_path / "rows.jsonl"
    path.unlink() if how == "gone" else path.write_text(path.read_text() + '{"id": "new", "text": "a new one"}\n')
    data = report_data(Result.open(tmp_path / "out"))
    assert "could not be read again" in data["texts"]
    assert "rows.jsonl" in data["texts"]
    assert data["checks"][0]["text"] == data["texts"]
    assert data["checks"][0]["level"] == "look"
    assert data["templates"] is None
    assert data["groups"]
    assert all(group["kept"]["text"] is None for group in data["groups"])
    assert data["thresholds"]["lower"]
    assert data["thresholds"]["measured"] == 0.0


def test_without_a_work_folder_the_next_move_is_said(tmp_path):
    run_over(tmp_path, crawl(30))
    shutil.rmtree(tmp_path / "out" / "work")
    with pytest.raises(WorkError, match="neardup dedup"):
        Result.open(tmp_path / "out")
    with pytest.raises(InputError, match=r"no run\.json"):
        Result.open(tmp_path)


def test_the_page_stays_small(run):
    """Groups of long documents: texts of 15 MB, a page of a tenth of that."""
    random = np.random.default_rng(1)
    rows = []
    for group in range(40):
        words = np.char.add("w", random.integers(0, 10**6, 12_000).astype(str))
        for copy in range(4):
            edited = words.copy()
            edited[random.integers(0, len(words), 60)] = f"e{copy}"
            rows.append({"id": f"{group}-{copy}", "text": " ".join(edited.tolist())})
    result = run(rows)
    assert result.counts["removed"] == 120
    assert result.counts["text_bytes"] > 12_000_000
    assert len(page(report_data(result), "no charts")) < 1_500_000


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "neardup", "report", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


def test_the_command_prints_the_path(tmp_path):
    run_over(tmp_path, crawl(60))
    told = command(tmp_path / "out")
    assert (told.returncode, told.stdout) == (0, f"{tmp_path / 'out' / 'report.html'}\n"), told.stderr
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!doctype html>")
    told = command(tmp_path / "out", "-o", tmp_path / "deep" / "other.html", "--seed", 7, "-q")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"{tmp_path / 'deep' / 'other.html'}\n", "")
    assert '"seed":7' in (tmp_path / "deep" / "other.html").read_text()


def test_the_command_without_a_run(tmp_path):
    told = command(tmp_path)
    assert told.returncode == 1
    assert "holds no finished run" in told.stderr
    assert told.stdout == ""


def test_the_documented_example_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs/report.md").read_text(), re.S)
    exec(compile(code, "docs/report.md", "exec"), {})
    assert capsys.readouterr().out.strip() == code.split("# ")[1].strip()
    assert (tmp_path / "report.html").stat().st_size > 10_000
