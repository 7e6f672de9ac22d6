"""What is compiled while the service is asked already: requests wait for it, are told why, and nothing is left out."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.serving import Service, fresh, problem

_SCRIPT = """
import sys
from neardup.index import Index
from neardup.service import Limits, Log, Settings, address_of, listen, serve
from neardup.service.preparing import GROUPING, MEASURING, SYSTEMS, Preparing
settings = Settings(Limits(seconds=float(sys.argv[2])))
steps = {step: lambda path=path: open(path).close() for step, path in zip((GROUPING, MEASURING, SYSTEMS), sys.argv[3:])}
preparing = Preparing(steps)
with Index.open(sys.argv[1]) as index, listen("127.0.0.1", 0, settings) as listening:
    def ready():
        preparing.start()
        print(address_of(listening), flush=True)
    serve(index, listening, settings, Log("none"), ready=ready, preparing=preparing)
"""
"""Each step is done when somebody writes to its pipe."""

RESULTS = {"results": [{"id": "a", "text": "a rose is a rose"}, {"id": "b", "text": "A rose is a rose!"}]}
SIDES = {"first": {"text": "a rose"}, "second": {"text": "a tulip"}}
GROUPING, MEASURING, SYSTEMS = range(3)


class Slow(Service):
    def __init__(self, folder, seconds: float) -> None:
        self._pipes = [folder / f"step-{at}" for at in range(3)]
        for pipe in self._pipes:
            os.mkfifo(pipe)
        self._begin([sys.executable, "-c", _SCRIPT, *map(str, (folder / "seen.ndx", seconds, *self._pipes))])

    def finish(self, step: int) -> None:
        """Opening a pipe for writing waits for the one who reads."""
        self._pipes[step].open("w").close()


@pytest.fixture
def slow(tmp_path):
    made: list[Slow] = []

    def start(seconds: float) -> Slow:
        made.append(Slow(tmp_path, seconds))
        return made[0]

    yield start
    made[0].stop()


def test_requests_wait_for_their_step_and_others_do_not(slow):
    service = slow(30.0)
    with ThreadPoolExecutor(5) as pool:
        grouped = pool.submit(service.post, "group", RESULTS)
        compared = pool.submit(service.post, "compare", SIDES)
        judged = pool.submit(service.post, "compare", {**SIDES, "systems": True})
        page = pool.submit(
            service.http.post,
            "/compare",
            data={"first": "a rose", "second": "a tulip"},
            headers={"Origin": service.address},
        )
        assert service.post("check", {"text": fresh()}).status_code == 200
        assert service.http.get("/compare").status_code == 200
        service.finish(GROUPING)
        assert grouped.result().json()["folded"] == 1
        assert not compared.done()
        service.finish(MEASURING)
        assert compared.result().status_code == 200
        assert service.post("sketch", {"documents": [{"text": "a rose"}]}).status_code == 200
        assert not judged.done()
        assert not page.done()
        service.finish(SYSTEMS)
        assert judged.result().status_code == page.result().status_code == 200


def test_whoever_waits_too_long_is_told_why_and_when_to_come_back(slow):
    service = slow(0.3)
    for what, asked in (("group", RESULTS), ("compare", SIDES), ("sketch", {"documents": [{"text": "a"}]})):
        answer = service.post(what, asked)
        told = problem(answer, 503, "compiling")
        assert "is being compiled, once on this machine, and was not ready after 0.3 seconds" in told["detail"]
        assert answer.headers["retry-after"] == "10"
        assert "10 seconds" in told["detail"]
    form = {"first": "a rose", "second": "a tulip"}
    page = service.http.post("/compare", data=form, headers={"Origin": service.address})
    assert page.status_code == 503
    assert "is being compiled" in page.text


_COMPLETE = """
import pkgutil, sys
from importlib import import_module
from numba.core.dispatcher import Dispatcher
import neardup.kernels
from neardup.index import Index
from neardup.service import shapes
from neardup.service.grouping import group
from neardup.service.measuring import compare, sketch
from neardup.service.preparing import prepare_index, the_rest
from neardup.service.settings import Limits

modules = [import_module(f"neardup.kernels.{found.name}") for found in pkgutil.iter_modules(neardup.kernels.__path__)]
def compiled():
    return {
        (module.__name__, name, str(types))
        for module in modules for name, kernel in vars(module).items() if isinstance(kernel, Dispatcher)
        for types in kernel.overloads
    }

one = " ".join(f"the ferry number {n} leaves from pier {n * 7 % 11}" for n in range(30))
two = one.replace("number 7", "without number")
with Index.open(sys.argv[1], sys.argv[2], keep=sys.argv[3]) as index:
    prepare_index(index)
    for_index = compiled()
    index.check_and_add("a", one)
    assert not index.check(two).new
    assert index.similar(two)
    index.update("a", two)
    assert compiled() == for_index, compiled() - for_index
    for step in the_rest(index.recipe).values():
        step()
    everything = compiled()
    assert everything > for_index
    results = [{"id": 1, "text": one}, {"id": 2, "text": two}]
    for query in (None, "ferry pier"):
        assert group(shapes.Grouping(results=results, query=query), Limits()).folded == 1
    group(shapes.Grouping(results=[{"snippet": "a b c"}, {"title": "d"}]), Limits())
    sketch(shapes.Sketching(documents=[shapes.Query(text=one)]), index.recipe)
    for systems in (False, True):
        sides = shapes.Side(text=one), shapes.Side(text=two)
        compare(shapes.Comparing(first=sides[0], second=sides[1], systems=systems), index.recipe)
    assert compiled() == everything, compiled() - everything
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
@pytest.mark.parametrize(("recipe", "keep"), [("stream", "sketch"), ("default", "text")])
def test_nothing_is_left_to_be_compiled_within_a_request(tmp_path, recipe, keep):
    """In a process of its own, where every kernel that is used is loaded or compiled for the first time."""
    script = [sys.executable, "-c", _COMPLETE, str(tmp_path / "seen.ndx"), recipe, keep]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
