"""neardup group and neardup sign, as people and pipes use them."""

import gzip
import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import pytest

from neardup import group, sign
from neardup.cli import main

RESPONSES = Path(__file__).parent / "responses"
LINES = (RESPONSES / "plain.jsonl").read_bytes()
TEXT = "The ferry to the island leaves at nine, at noon and at six in the evening."


class Done(NamedTuple):
    code: int
    out: bytes
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capfdbinary, monkeypatch) -> Run:
    """The command in this process."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))

    def run(*arguments: object, stdin: bytes = b"") -> Done:
        capfdbinary.readouterr()
        with TemporaryFile("w+") as typed:
            typed.buffer.write(stdin)
            typed.seek(0)
            monkeypatch.setattr(sys, "stdin", typed)
            with pytest.raises(SystemExit) as ended:
                main(list(map(str, arguments)))
        told = capfdbinary.readouterr()
        return Done(ended.value.code, told.out, told.err.decode())

    return run


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
@pytest.mark.parametrize("name", ["group", "sign"])
def test_why_the_first_time_takes_long_is_said(tmp_path, name):
    command = [sys.executable, "-m", "neardup", name]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as started:
        started.stdin.write(LINES)
        started.stdin.close()
        assert b"Compiling, once on this machine: up to half a minute.\n" in iter(started.stderr.readline, b"")
        started.kill()


def objects(lines: bytes) -> list[dict]:
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize("view", ["mark", "fold", "collapse", "drop"])
def test_lines_in_lines_out(run, view):
    done = run("group", "--show", view, stdin=LINES)
    assert done.code == 0
    assert objects(done.out) == group(objects(LINES)).shown(view)
    assert done.err == "12 results, 6 groups, 6 folded; compared by text.\n"


@pytest.mark.parametrize("name", ["opensearch", "solr", "meilisearch", "searxng", "plain"])
def test_a_response_in_the_same_out(run, name):
    path = RESPONSES / f"{name}.json"
    done = run("group", path, "-q", "-t", "0.8", "--no-contained")
    assert json.loads(done.out) == group(json.loads(path.read_bytes()), threshold=0.8, contained=False).shown()
    assert done.out.count(b"\n") == 1
    assert (done.code, done.err) == (0, "")


def test_numbers_and_fields_stay_what_they_are(run, tmp_path):
    kept = b'{"id":1.50,"text":"a b c","n":1e3,"big":12345678901234567890,"u":"\xc3\xbc","e":"\\u00fc"}'
    (tmp_path / "one.json.gz").write_bytes(gzip.compress(b'{"hits":{"hits":[' + kept + b'],"total":1.0}}'))
    done = run("group", tmp_path / "one.json.gz", "--show", "drop")
    assert done.out == b'{"hits":{"hits":[' + kept.replace(b"\\u00fc", b"\xc3\xbc") + b'],"total":1.0}}\n'
    assert run("group", "--show", "drop", stdin=kept).out == kept.replace(b"\\u00fc", b"\xc3\xbc") + b"\n"


def test_fields_are_named(run):
    path = RESPONSES / "elasticsearch.json"
    done = run("group", path, "--text-field", "page.body", "--query", "winter", "--show", "fold")
    grouped = group(json.loads(path.read_bytes()), text_field="page.body", query="winter")
    assert json.loads(done.out) == grouped.shown("fold")
    assert grouped.folded == 5
    assert done.err == "12 results, 7 groups, 5 folded; compared by text around the query.\n"
    named = run("group", "--signature-field", "s", "--id-field", "n", stdin=b'{"n":"x","s":"%b"}' % sign(TEXT).encode())
    assert objects(named.out)[0]["neardup"] == {"group": "x", "rank": 1, "similar": 0}
    assert "compared by signature" in named.err


def test_what_was_compared_is_said(run):
    lines = b'{"snippet":"a b c"}\n{"title":"d e f"}\n{"url":"https://a.example/"}\n'
    told = run("group", stdin=lines).err
    assert told == (
        "3 results, 3 groups, 0 folded; compared by snippet; 2 without anything to compare. "
        "A title is not compared unless it is named: --text-field title.\n"
    )
    nothing = run("group", stdin=b'[{"id":1,"words":"a b c"}]').err
    assert "1 without anything to compare. Name the field to compare: --text-field" in nothing
    signed = run("group", "--query", "a", stdin=b'{"neardup_signature":"%b"}' % sign(TEXT).encode()).err
    assert "passages around the query need the text of all results" in signed
    assert "Whole documents: there are no words in the query." in run("group", "--query", "?", stdin=LINES).err


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "says"),
    [
        ((), b" \n", 1, "stdin: is empty. Give the response of a search engine as JSON"),
        ((), b"PAR1\x15\x04\x15\xf0\n\x80", 1, "stdin: is Parquet. Give the response of a search engine as JSON"),
        ((), b"\x89PNG\r\n\x1a\n", 1, "(byte 0). Give the response of a search engine as JSON"),
        ((), b'{"text":"a"}\n{"text":', 1, "stdin, line 2: is no JSON"),
        ((), b'{"text":', 1, "stdin: is no JSON"),
        ((), b'{"items":[]}', 1, "an object with items"),
        ((), b'{"items":[]}', 1, "name the format where its shape does not tell"),
        ((), b'{"took":1,"responses":[]}', 1, "_msearch"),
        ((), b'{"text":"a"}\n[1]\n', 1, "result 2 is list"),
        (("--threshold", "70"), LINES, 2, "threshold = 70.0: a share of the passages"),
        (("--text-field", "txt"), LINES, 2, "--text-field txt: none of the 12 results has that field; did you mean"),
        (("--id-field", "nr"), LINES, 2, "--id-field nr: none of the 12 results has that field; they have"),
        (("--format", "solr"), LINES, 1, "response.docs: is not there"),
        (("--show", "hide"), LINES, 2, "'hide' is not one of"),
        (("missing.json",), b"", 1, "missing.json: cannot be read"),
    ],
)
def test_errors_are_sentences(run, arguments, stdin, code, says):
    done = run("group", *arguments, stdin=stdin)
    assert (done.code, done.out) == (code, b"")
    assert says in done.err


@pytest.mark.parametrize("stdin", [b"{}\n" * 100_001, b'{"response":{"docs":[%b{}]}}' % (b"{}," * 100_000)])
def test_a_collection_is_no_page(run, stdin):
    done = run("group", stdin=stdin)
    assert done.code == 2
    assert "neardup dedup" in done.err


# Signatures.


def test_every_line_gets_a_signature_and_keeps_its_bytes(run, tmp_path):
    lines = [
        b'{ "id" : 1.0, "text": "%b", "more": {"a": 1e3} }' % TEXT.encode(),
        b'{"text":"\\u00fc \xc3\xbc"}\r',
        b'{"text": null}',
        b"",
        b'{"text":"","neardup":[1]}\t',
    ]
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + b"\n".join(lines)))
    done = run("sign", tmp_path / "pages.jsonl.gz")
    assert done.code == 0
    assert "4 documents signed." in done.err
    made = done.out.splitlines(keepends=True)
    written = [line for line in lines if line]
    for line, signed, text in zip(written, made, (TEXT, "ü ü", "", ""), strict=True):
        body = line.rstrip(b"\r\t")
        begin, end = body[:-1].rstrip(b" "), line[len(body) :]
        assert signed == b'%b,"neardup_signature":"%b"}%b\n' % (begin, sign(text).encode(), end)


def test_a_signature_that_is_there_is_made_again(run):
    line = b'{"sig": "%b", "text": "%b", "n": 1.50}\n'
    right = (line % (sign(TEXT).encode(), TEXT.encode())).replace(b": ", b":").replace(b', "', b',"')
    for old in (sign("another text"), b64encode(bytes(256)).decode(), ""):  # the second one is of another version
        again = run("sign", "--field", "sig", "-q", stdin=line % (old.encode(), TEXT.encode()))
        assert again.out == right
    assert run("sign", "--field", "sig", "-q", stdin=right).out == right


@pytest.mark.parametrize("held", [b'"%b"' % TEXT.encode(), b'"b2xk"', b"7", b'{"a": 1.50}', b"9" * 5000, b"[]"])
def test_what_is_no_signature_is_not_lost(run, held):
    lines = b'{"id": 1, "text": "a"}\n{"id": 2, "text": "b", "kept": %b}\n' % held
    refused = run("sign", "--field", "kept", "-q", stdin=lines)
    assert (refused.code, refused.out) == (2, b"")
    assert "stdin, line 2: its field 'kept' holds " in refused.err
    assert "would be lost. Give another --field, or --overwrite." in refused.err
    overwritten = run("sign", "--field", "kept", "--overwrite", "-q", stdin=lines)
    assert [one["kept"] for one in objects(overwritten.out)] == [sign("a"), sign("b")]


def test_the_text_itself_is_not_signed_over(run):
    refused = run("sign", "--field", "text", stdin=LINES)
    assert (refused.code, refused.out) == (2, b"")
    assert "its field 'text' holds" in refused.err


def test_null_is_nothing_to_lose(run):
    done = run("sign", "--field", "s", "-q", stdin=b'{"s":null,"text":"a"}\n')
    assert objects(done.out) == [{"s": sign("a"), "text": "a"}]


def test_a_signature_is_made_again_beside_what_json_does_not_know(run):
    line = b'{"text":"%b","x":NaN,"y":"\\ud800","n":1.50,"neardup_signature":"old"}\n' % TEXT.encode()
    assert run("sign", "--overwrite", "-q", stdin=line).out == line.replace(b"old", sign(TEXT).encode())
    assert 'holds "old", which is no signature' in run("sign", "-q", stdin=line).err


def test_pages_are_signed_by_their_text(run):
    page = f"<html><nav>Home News</nav><main><p>{TEXT}</p></main></html>"
    done = run("sign", stdin=json.dumps({"html": page, "id": 1}).encode() + b"\n")
    assert objects(done.out)[0]["neardup_signature"] == sign(html=page) == sign(TEXT)
    as_text = run("sign", "--no-html", "--text-field", "html", stdin=json.dumps({"html": page}).encode())
    assert objects(as_text.out)[0]["neardup_signature"] == sign(page)


@pytest.mark.parametrize(("how", "left"), [("skip", [0, 2]), ("pass", [0, 1, 2])])
def test_lines_that_cannot_be_read(run, how, left):
    lines = [b'{"text":"a"}', b"no json", b'{"text":"b"}']
    done = run("sign", "--on-error", how, stdin=b"\n".join(lines))
    assert done.code == 0
    assert [line[:7] for line in done.out.splitlines()] == [lines[at][:7] for at in left]
    assert "1 line could not be read" in done.err
    stopped = run("sign", stdin=b"\n".join(lines))
    assert stopped.code == 1
    assert "stdin" in stopped.err
    assert len(stopped.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("table.csv",), "a field is added to lines of JSON"), (("--field", ""), "a field has a name")],
)
def test_what_cannot_be_signed(run, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("id,text\n1,a\n")
    done = run("sign", *arguments)
    assert (done.code, done.out) == (2, b"")
    assert says in done.err


def test_lines_are_answered_as_they_come():
    """And grouped by what was signed."""
    with subprocess.Popen(
        [sys.executable, "-m", "neardup", "sign", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as signing:
        signed = []
        for line in LINES.splitlines(keepends=True)[:3]:
            signing.stdin.write(line)
            signing.stdin.flush()
            signed.append(json.loads(signing.stdout.readline()))
        signing.stdin.close()
        assert signing.wait(30) == 0
    without = [{key: value for key, value in one.items() if key != "text"} for one in signed]
    assert group(without).groups == group(objects(LINES)[:3]).groups


@pytest.mark.parametrize("how", ["skip", "pass"])
def test_a_field_that_no_line_has_is_refused(run, how):
    lines = b'{"id":1,"text":"a b c"}\n{"id":2,"text":"d e f"}\n'
    done = run("sign", "--text-field", "txt", "--on-error", how, stdin=lines)
    assert done.code == 2
    assert "--text-field txt: none of 2 lines has it, so nothing was signed." in done.err
    assert done.out == (lines if how == "pass" else b"")
    some = run("sign", "--text-field", "txt", "--on-error", how, stdin=lines + b'{"txt":"g h i"}\n')
    assert some.code == 0
    stopped = run("sign", "--text-field", "txt", stdin=lines)
    assert stopped.code == 1
    assert "Name another with --text-field, or pass over it" in stopped.err
