"""The labelling page in a real browser: by the keyboard, by mouse, at both widths, on hostile documents."""

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn

from neardup import Result
from neardup.audit import LabellingSession, app
from neardup.audit.server import address, listen
from neardup.pipeline import dedup
from tests.corpus import documents

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></script><!-- <svg onload=alert(3)> "
    "\u202egnp.exe\u202c \u2028 \u0000 &lt;b&gt; ]]> \"' `${alert(4)}` "
)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A finished run over ordinary clusters and pairs of hostile documents."""
    folder = tmp_path_factory.mktemp("run")
    rows = [
        {**d, "url": f"https://www.site{i % 3}.example.org/{d['id']}"} for i, d in enumerate(documents(120, seed=5))
    ]
    for i in range(3):
        words = " ".join(f"w{i}x{j}" for j in range(60))
        for copy in range(2):
            rows.append(
                {
                    "id": f"\u202e<b onmouseover=alert(5)>{i}{copy}</b>'\"",
                    "url": f"javascript:alert('{i}{copy}')",
                    "text": HOSTILE + words + (f" changed{copy} " if copy else " ") + HOSTILE + "X" * 3000,
                }
            )
    source = folder / "pages.jsonl"
    source.write_text("".join(json.dumps(r) + "\n" for r in rows))
    dedup(str(source), work=folder / "out" / "work", threshold=0.7).write(folder / "out")
    return folder / "out"


@contextmanager
def served(session: LabellingSession):
    """The page on a free port, in a thread; its address."""
    listening = listen("127.0.0.1", 0)
    application = app(session)
    server = uvicorn.Server(uvicorn.Config(application, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield address(listening, application.state.token)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def begin(run: Path, folder: Path, **settings) -> LabellingSession:
    return LabellingSession.begin(Result.open(run), folder, **settings)


def open_page(watched, url: str) -> None:
    watched.page.goto(url)
    watched.page.wait_for_selector(".diff")


def tally(watched) -> str:
    return watched.page.inner_text("#tally")


def wait_for(watched, text: str) -> None:
    watched.page.wait_for_function("t => document.getElementById('tally').textContent.startsWith(t)", arg=text)


def shot(watched, name: str) -> None:
    watched.screenshot(f"audit-{name}-{watched.page.viewport_size['width']}")


def pressed(watched) -> list[str]:
    buttons = watched.page.query_selector_all("[data-verdict][aria-pressed=true], [data-reason][aria-pressed=true]")
    return [b.get_attribute("data-verdict") or b.get_attribute("data-reason") for b in buttons]


def place(watched) -> str:
    return watched.page.text_content("#place")


def test_labelling_by_the_keyboard(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30, labeller="ann")
    n = len(session.pairs)
    page = desktop.page
    with served(session) as url:
        open_page(desktop, url)
        assert place(desktop) == f"Pair 1 of {n}"
        page.keyboard.press("1")  # no verdict yet: nothing to give a reason for
        page.keyboard.press("Enter")
        page.keyboard.press("c")
        wait_for(desktop, f"1 of {n} labelled: 1 correct, 0 incorrect, 0 undecided")
        assert pressed(desktop) == ["correct"]
        page.keyboard.press("2")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
        page.keyboard.press("i")
        wait_for(desktop, f"2 of {n} labelled: 1 correct, 1 incorrect")
        page.keyboard.press("o")
        page.keyboard.type("c, i and u are letters here")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 3 ')")
        page.keyboard.press("u")
        wait_for(desktop, f"3 of {n} labelled: 1 correct, 1 incorrect, 1 undecided")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 4 ')")
        page.keyboard.press("z")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 3 ')")
        wait_for(desktop, f"2 of {n} labelled")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("() => document.getElementById('note').value !== ''")
        assert pressed(desktop) == ["incorrect"]
        page.keyboard.press("k")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 1 ')")
        assert pressed(desktop) == ["correct", "changing"]
        page.keyboard.press("n")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 3 ')")

        page.reload()
        page.wait_for_selector(".diff")
        assert place(desktop) == f"Pair 3 of {n}"
        assert tally(desktop).endswith("ann")
    assert [session.said(i).verdict for i in range(2)] == ["correct", "incorrect"]
    assert session.said(0).reason == "changing"
    assert session.said(1).note == "c, i and u are letters here"
    assert session.said(2) is None
    assert not desktop.errors

    resumed = begin(run, tmp_path)
    with served(resumed) as url:
        open_page(desktop, url)
        assert place(desktop) == f"Pair 3 of {n}"
        for number in range(2, n):
            page.wait_for_function(
                "n => document.getElementById('place').textContent.startsWith(`Pair ${n} `)", arg=number + 1
            )
            page.keyboard.press("c")
            wait_for(desktop, f"{number + 1} of {n} labelled")
            page.keyboard.press("Enter")
        page.wait_for_selector("#end:not([hidden])")
        assert "Every pair has a verdict" in page.inner_text("#end")
        shot(desktop, "end")
    target = tmp_path / "truth.jsonl"
    assert resumed.export(target) == n
    rows = [json.loads(line) for line in target.read_text().split("\n") if line]
    assert [row["verdict"] for row in rows] == ["correct", "incorrect"] + ["correct"] * (n - 2)
    assert {(row["first"], row["second"]) for row in rows} == {(p.first, p.second) for p in session.pairs}


def test_scores_are_hidden_until_a_verdict_is_given(desktop, run, tmp_path):
    with served(begin(run, tmp_path, pairs=30)) as url:
        open_page(desktop, url)
        page = desktop.page
        assert "hidden until" in page.inner_text(".facts")
        assert "resemblance" not in page.inner_text("#pair")
        page.keyboard.press("b")
        assert "resemblance" in page.inner_text(".facts")
        page.keyboard.press("b")
        assert "resemblance" not in page.inner_text(".facts")
        page.keyboard.press("u")
        page.wait_for_function("() => document.querySelector('.facts').innerText.includes('resemblance')")


def test_by_mouse_or_touch_at_both_widths(any_page, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    near = next(i for i, pair in enumerate(session.pairs) if pair.relation == "near" and "<" not in pair.first)
    with served(session) as url:
        open_page(any_page, url)
        page = any_page.page
        for _ in range(near):
            page.click("#forward")
        page.wait_for_function("n => document.getElementById('place').textContent.includes(`${n} of`)", arg=near + 1)
        page.wait_for_selector(".diff del:visible >> nth=1")
        shot(any_page, "blind")
        assert any_page.overflow == 0
        assert page.evaluate(
            "() => { const p = document.getElementById('place'); return p.scrollWidth <= p.clientWidth }"
        )
        page.click("[data-verdict=incorrect]")
        page.wait_for_selector("[data-reason]")
        shot(any_page, "judged")
        assert any_page.overflow == 0
        for button in page.query_selector_all("[data-verdict]"):
            box = button.bounding_box()
            assert box["height"] >= 40
            assert box["y"] + box["height"] <= page.viewport_size["height"]
        page.click("[data-reason=item]")
        wait_for(any_page, f"1 of {len(session.pairs)} labelled: 0 correct, 1 incorrect")
        page.click("#undo")  # verdict and reason are one step
        wait_for(any_page, f"0 of {len(session.pairs)} labelled")
        page.click("#texts")
        page.wait_for_selector(".whole")
        assert session.pairs[near].second_text.split()[-1] in page.inner_text(".whole")
        assert any_page.overflow == 0
        page.click("#texts")
        assert page.query_selector(".whole") is None
        page.click("#help")
        assert "Undecided" in page.inner_text("#keys")
        shot(any_page, "help")
        assert any_page.overflow == 0
        assert not any_page.errors
    assert session.said(near) is None
    assert [said.reason for said in session.labels.history] == [None, "item", None]


class Held:
    """Answers to some requests that come when the test says so."""

    def __init__(self, page, path: str, *, holding: bool = True) -> None:
        """Take the requests from now on, or from `hold` on; before the page is opened, or some slip by."""
        self._page, self._open = page, not holding
        self._routes: list = []
        page.route(re.compile(path), lambda route: route.continue_() if self._open else self._routes.append(route))

    def hold(self) -> None:
        """From now on."""
        self._open = False

    def wait(self) -> None:
        """Until somebody asks."""
        for _ in range(200):
            if self._routes:
                return
            self._page.wait_for_timeout(20)
        raise AssertionError("nobody asked")

    def let_go(self) -> None:
        self._open = True
        for route in self._routes:
            route.continue_()


def who(watched) -> str:
    """The id of the removed document on screen."""
    return watched.page.inner_text(".who .name >> nth=0")


def on_screen(session: LabellingSession, watched) -> list[int]:
    return [i for i, pair in enumerate(session.pairs) if pair.first == who(watched)]


def verdicts(session: LabellingSession) -> dict[int, str]:
    return {i: said.verdict for i in range(len(session.pairs)) if (said := session.said(i))}


def test_nothing_is_said_of_a_pair_that_is_not_on_screen(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        held = Held(page, r"/api/pairs/2$", holding=False)
        open_page(desktop, url)
        page.wait_for_load_state("networkidle")
        held.hold()
        page.keyboard.press("j")
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
        page.keyboard.press("j")
        held.wait()
        assert on_screen(session, desktop) == [1]
        assert page.get_attribute("#pair", "aria-busy") == "true"
        for key in ("c", "i", "1", "Enter"):  # the third pair is wanted, and on its way
            page.keyboard.press(key)
        page.click("[data-verdict=undecided]")
        page.wait_for_timeout(200)
        assert place(desktop).startswith("Pair 2 ")
        assert verdicts(session) == {}
        held.let_go()
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 3 ')")
        assert on_screen(session, desktop) == [2]
        assert page.get_attribute("#pair", "aria-busy") == "false"
        page.keyboard.press("u")
        wait_for(desktop, "1 of")
        assert verdicts(session) == {2: "undecided"}
        assert not desktop.errors


def test_what_is_typed_behind_a_label_that_moves_on_counts_for_nothing(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        held = Held(page, r"/api/labels$", holding=False)
        open_page(desktop, url)
        page.keyboard.press("c")
        wait_for(desktop, "1 of")
        held.hold()
        page.keyboard.press("1")
        held.wait()
        for key in ("i", "2", "u"):  # meant for the pair that comes, or for nothing
            page.keyboard.press(key)
        held.let_go()
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
        page.wait_for_timeout(200)
        assert verdicts(session) == {0: "correct"}
        assert [said.reason for said in session.labels.history] == [None, "same"]
        assert place(desktop).startswith("Pair 2 ")


@pytest.mark.parametrize("end", ["Escape", "Enter"])
def test_a_note_may_be_written_before_the_verdict(any_page, run, tmp_path, end):
    """Its letters are no verdicts, and it is saved with the verdict."""
    session = begin(run, tmp_path, pairs=30)
    page = any_page.page
    with served(session) as url:
        open_page(any_page, url)
        page.keyboard.press("o")
        page.keyboard.type("nice")
        assert page.is_hidden("#on")
        shot(any_page, "note-first")
        page.keyboard.press(end)
        page.wait_for_timeout(200)
        assert page.input_value("#note") == "nice"
        assert session.labels.history == []
        page.keyboard.press("j")  # a note waits for its pair
        page.wait_for_function("() => document.getElementById('place').textContent.includes('2 of')")
        assert page.is_hidden("#note")
        assert page.input_value("#note") == ""
        page.keyboard.press("o")
        page.keyboard.press("Escape")
        assert page.is_hidden("#note")
        page.keyboard.press("k")
        page.wait_for_function("() => document.getElementById('place').textContent.includes('1 of')")
        assert page.input_value("#note") == "nice"
        page.keyboard.press("c")
        wait_for(any_page, "1 of")
        [said] = session.labels.history
        assert (said.verdict, said.note) == ("correct", "nice")
        assert verdicts(session) == {0: "correct"}
        assert page.is_visible("#on")
        assert not any_page.errors


def test_a_note_that_is_wanted_while_a_pair_comes_waits_for_it(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        held = Held(page, r"/api/labels$")
        open_page(desktop, url)
        page.keyboard.press("c")
        held.wait()
        page.keyboard.press("1")
        page.keyboard.press("o")
        page.keyboard.type("ci")
        held.let_go()
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
        page.wait_for_function("() => document.activeElement.id === 'note'")
        page.keyboard.type("nice")
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        wait_for(desktop, "2 of")
        assert verdicts(session) == {0: "correct", 1: "undecided"}
        assert [session.said(i).note for i in (0, 1)] == ["", "nice"]
        assert not desktop.errors


def test_a_reason_may_be_typed_before_the_verdict_is_saved(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        held = Held(page, r"/api/labels$")
        open_page(desktop, url)
        page.keyboard.press("i")
        held.wait()
        page.keyboard.press("2")
        held.let_go()
        page.wait_for_function("() => document.getElementById('place').textContent.startsWith('Pair 2 ')")
        assert (session.said(0).verdict, session.said(0).reason) == ("incorrect", "item")
        page.keyboard.press("z")
        wait_for(desktop, "0 of")
        assert place(desktop).startswith("Pair 1 ")


def test_a_pair_that_does_not_come_leaves_the_old_one_to_be_judged(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        page.route(re.compile(r"/api/pairs/1$"), lambda route: route.abort())
        open_page(desktop, url)
        page.keyboard.press("j")
        page.wait_for_selector("#trouble:not([hidden])")
        page.keyboard.press("c")
        wait_for(desktop, "1 of")
        assert on_screen(session, desktop) == [0]
        assert verdicts(session) == {0: "correct"}


def test_undo_takes_back_what_was_said_since_the_pair_came(desktop, run, tmp_path):
    """c j k i z: the second verdict goes, the first one stays; another z takes that back."""
    session = begin(run, tmp_path, pairs=30)
    page = desktop.page
    with served(session) as url:
        open_page(desktop, url)
        page.keyboard.press("c")
        wait_for(desktop, "1 of")
        for key, there in (("j", 2), ("k", 1)):
            page.keyboard.press(key)
            page.wait_for_function(
                "n => document.getElementById('place').textContent.startsWith(`Pair ${n} `)", arg=there
            )
        page.keyboard.press("i")
        page.wait_for_function("() => document.getElementById('tally').textContent.includes('0 correct, 1 incorrect')")
        page.keyboard.press("z")
        page.wait_for_function("() => document.getElementById('tally').textContent.includes('1 correct, 0 incorrect')")
        assert verdicts(session) == {0: "correct"}
        page.keyboard.press("z")
        wait_for(desktop, "0 of")
        assert verdicts(session) == {}
        assert page.is_disabled("#undo")


WORDS_THAT_NOBODY_WROTE = """() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, tag = text.parentElement.tagName;
    if (tag !== "SCRIPT" && tag !== "STYLE" && /null|undefined|NaN|\\[object/.test(text.data)) found.push(text.data);
  }
  return found;
}"""


def test_what_is_not_there_is_not_shown_as_a_word(any_page, run, tmp_path):
    """Copies have no differences, some pairs no URLs and no cut texts; and one has no text."""
    session = begin(run, tmp_path, pairs=30)
    copy = next(i for i, pair in enumerate(session.pairs) if pair.relation == "identical")
    session.pairs[copy] = replace(session.pairs[copy], first_url=None, second_url=None)
    session.pairs[1 if copy == 0 else 0] = replace(
        session.pairs[1], resemblance=None, first_in_second=None, second_in_first=None, first_length=10**6
    )
    session.pairs[2 if copy != 2 else 3] = replace(session.pairs[2], first_text=None, first_length=5 << 20)
    page = any_page.page
    with served(session) as url:
        open_page(any_page, url)
        for number in range(len(session.pairs)):
            page.evaluate("n => go(n)", number)
            page.wait_for_function("n => shown.number === n", arg=number)
            page.keyboard.press("b")
            if number == copy:
                assert "No token differs." in page.inner_text("#pair")
                shot(any_page, "copy")
            if session.pairs[number].first_text is None:
                assert "(5,242,880 bytes) is too long to be shown here" in page.inner_text("#pair")
                assert page.query_selector(".diff") is None
                shot(any_page, "left-out")
            assert page.evaluate(WORDS_THAT_NOBODY_WROTE) == []
            page.click("#texts")
            page.wait_for_selector(".whole")
            page.keyboard.press("u")
            page.wait_for_selector("#why:not([hidden])")
            assert page.evaluate(WORDS_THAT_NOBODY_WROTE) == []
            assert any_page.overflow == 0
        left = page.evaluate("() => { const p = at('pair'); fill(p, null, [undefined, false]); return p.textContent }")
        assert left == ""
        assert not any_page.errors


def test_hostile_documents_are_shown_and_do_nothing(any_page, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    bad = [i for i, pair in enumerate(session.pairs) if "onmouseover" in pair.first]
    assert bad
    with served(session) as url:
        open_page(any_page, url)
        page = any_page.page
        for number in bad:
            page.evaluate("n => go(n)", number)
            page.wait_for_function(
                "n => document.getElementById('place').textContent.includes(`${n + 1} of`)", arg=number
            )
            assert "<script>alert(1)</script>" in page.inner_text("#pair")
            assert "javascript:alert(" in page.inner_text(".who")
            page.keyboard.press("w")
            page.wait_for_selector(".whole")
            assert any_page.overflow == 0
            page.hover(".who .name")
            page.keyboard.press("i")
            page.wait_for_selector("#why:not([hidden])")
            page.fill("#note", HOSTILE.replace("\u0000", ""))
            page.press("#note", "Enter")
        shot(any_page, "hostile")
        assert page.query_selector("#pair script, #pair img, #pair svg, #pair a, #pair b[onmouseover]") is None
        assert page.evaluate("document.querySelectorAll('script[src], [onerror], [onload]').length") == 0
        assert any_page.dialogs == []
        assert not any_page.errors
        own = url.partition("#")[0]
        assert all(asked.startswith((own, "data:")) for asked in any_page.requests)
    assert "<script>" in session.said(bad[0]).note


def test_without_the_token_the_page_says_what_to_do(desktop, run, tmp_path):
    with served(begin(run, tmp_path, pairs=30)) as url:
        desktop.page.goto(url.partition("#")[0])
        desktop.page.wait_for_selector("#trouble:not([hidden])")
        assert "open the address that was printed" in desktop.page.inner_text("#trouble")
        assert desktop.page.query_selector(".diff") is None


def test_a_server_that_is_gone_is_told_and_nothing_is_pretended(desktop, run, tmp_path):
    session = begin(run, tmp_path, pairs=30)
    with served(session) as url:
        open_page(desktop, url)
    desktop.page.keyboard.press("c")
    desktop.page.wait_for_selector("#trouble:not([hidden])")
    assert "does not answer" in desktop.page.inner_text("#trouble")
    assert tally(desktop).startswith("0 of ")
    assert pressed(desktop) == []
    with served(session) as url:
        open_page(desktop, url)
        desktop.page.keyboard.press("c")
        wait_for(desktop, "1 of")


def test_dark(desktop, run, tmp_path):
    desktop.page.emulate_media(color_scheme="dark")
    with served(begin(run, tmp_path, pairs=30)) as url:
        open_page(desktop, url)
        desktop.page.keyboard.press("u")
        wait_for(desktop, "1 of")
        shot(desktop, "dark")
        assert desktop.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
