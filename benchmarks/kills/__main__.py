"""Kill, and look for every acknowledged document afterwards."""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from benchmarks.kills import damage, victims
from benchmarks.kills.victims import document, finished, forked, heard

SMALL = 64 << 10
"""A buffer that is full after some hundred documents: tables are written and merged all the time."""

PER_STORE = 10
"""Kills of one store; then a new one, so that looking does not take longer and longer."""


_end = float("inf")
"""When to stop, whatever is left to do."""


def numbered(kills: int, first: int = 0) -> Iterator[int]:
    """Count kills, until there are enough or the time is over."""
    for kill in range(first, kills):
        if time.monotonic() > _end:
            return
        yield kill


class Acknowledged:
    """What a store was acknowledged to hold."""

    def __init__(self) -> None:
        self.there: list[list[int]] = []
        self.gone: set[int] = set()
        self.maybe: set[int] = set()
        """Removals whose end nobody heard of."""

    def take(self, said: list[dict[str, Any]]) -> None:
        for each in said:
            if "raised" in each:
                raise RuntimeError(each["raised"])
            if "added" in each:
                self.there.append(each["added"])
            self.maybe.update([each["removing"]] if "removing" in each else [])
            if "removed" in each:
                self.maybe.discard(each["removed"])
                self.gone.add(each["removed"])

    @property
    def number(self) -> int:
        return sum(last - first for first, last in self.there) - len(self.gone) - len(self.maybe)


def killed(child: int, lines: IO[str], after: float, least: int = 1) -> list[dict[str, Any]]:
    """Kill a victim some time after its first words."""
    said = []
    for each in heard(lines):
        said.append(each)
        if len(said) >= least:
            break
    time.sleep(after)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    said += heard(lines)
    lines.close()
    os.waitpid(child, 0)
    return said


def looked(tally: Counter[str], path: str, known: Acknowledged, *, read_all: bool = True) -> None:
    gone = sorted(known.gone | known.maybe)
    [found] = finished(victims.looking, path, known.there, gone, read_all)
    tally["acknowledged looked up"] += found["looked"]
    tally["lost"] += len(found["lost"])
    tally["removed and back"] += len(set(found["back"]) & known.gone)
    tally["damaged after a kill"] += bool(found["problems"])
    for problem in found["problems"]:
        print(problem, file=sys.stderr)


def kill_writers(what: str, kills: int, folder: Path, rng: random.Random, tally: Counter[str]) -> None:
    """`compact`, `backup`: a thread that writes, and one that does this."""
    for kill in numbered(kills):
        if kill % PER_STORE == 0:
            path, known = folder / f"{kill}.ndx", Acknowledged()
        job = {"compact": victims.compacting, "backup": victims.saving}[what]
        more = [str(folder)] if what == "backup" else []
        child, lines = forked(job, str(path), 1_000_000 * kill, rng.choice([SMALL, 16 << 20]), *more)
        before = Acknowledged()
        before.there, before.gone, before.maybe = list(known.there), set(known.gone), set(known.maybe)
        said = killed(child, lines, rng.uniform(0, 0.5))
        known.take(said)
        tally["kills"] += 1
        tally["compactions"] += sum("compacted" in each for each in said)
        looked(tally, str(path), known)
        if what == "backup":
            _look_at_backups(kill, folder, said, before, tally)
        if kill % PER_STORE == PER_STORE - 1:
            shutil.rmtree(path)


def _look_at_backups(
    kill: int, folder: Path, said: list[dict[str, Any]], before: Acknowledged, tally: Counter[str]
) -> None:
    """A backup that was finished has what was acknowledged when it began. One that was not has no name."""
    done = {each["saved"] for each in said if "saved" in each}
    began = {each["saving"]: place for place, each in enumerate(said) if "saving" in each}
    tally["backups finished"] += len(done)
    for number, place in began.items():
        target = folder / f"{1_000_000 * kill}-{number}"
        if number not in done:
            tally["backups cut short"] += 1
        if target.exists() and number == max(n for n in began if (folder / f"{1_000_000 * kill}-{n}").exists()):
            known = Acknowledged()
            known.there, known.gone, known.maybe = list(before.there), set(before.gone), set(before.maybe)
            known.take([each for each in said[:place] if "saving" not in each])
            known.maybe.update(each["removing"] for each in said if "removing" in each)
            again = folder / "again.ndx"
            gone = sorted(known.gone | known.maybe)
            [found] = finished(victims.restoring, str(target), str(again), known.there, gone)
            tally["backups restored"] += 1
            tally["lost in a backup"] += len(found["lost"])
            shutil.rmtree(again)
        elif number in done and not target.exists():
            tally["lost in a backup"] += 1
    for leftover in (*folder.glob(f"{1_000_000 * kill}-*"), *folder.glob(".*.draft")):
        shutil.rmtree(leftover)


def kill_filters(kills: int, folder: Path, rng: random.Random, tally: Counter[str]) -> None:
    """Every document comes out at least once, and what came out before the last batch is remembered."""
    per, took = 2000, 0.0
    for kill in numbered(10 * kills, -1):  # some runs end before their kill
        if tally["kills"] == kills:
            break
        if kill <= 0 or kill % PER_STORE == 0:
            path, out = folder / f"{kill}.ndx", folder / f"{kill}.out"
            whole: list[list[int]] = []
        first = 1_000_000 * (kill + 1)
        given = folder / "given.jsonl"
        given.write_text(
            "".join(
                json.dumps({"id": each.id, "text": each.text}) + "\n"
                for each in map(document, range(first, first + per))
            )
        )
        began = time.monotonic()
        child, lines = forked(victims.filtering, str(path), str(given), str(out))
        if kill >= 0:
            time.sleep(rng.uniform(0, took))
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        lines.close()
        if kill < 0:
            took = time.monotonic() - began
            continue
        tally["kills" if ended == -signal.SIGKILL else "ended before the kill"] += 1
        passed = _ids(out)
        remembered = passed[:-1000]
        if remembered:
            numbers = sorted(int(id[1:]) for id in set(remembered))
            [found] = finished(victims.looking, str(path), [[n, n + 1] for n in numbers[-500:]], [])
            tally["acknowledged looked up"] += found["looked"]
            tally["lost"] += len(found["lost"])
            tally["damaged after a kill"] += bool(found["problems"])
        began = time.monotonic()
        finished(victims.filtering, str(path), str(given), str(out))  # to its end
        took = time.monotonic() - began  # the load of the machine changes
        passed = _ids(out)
        whole.append([first, first + per])
        missing = {f"d{n}" for a, b in whole for n in range(a, b)} - set(passed)
        tally["lost"] += len(missing)
        tally["passed on twice"] += len(passed) - len(set(passed))
        [found] = finished(victims.looking, str(path), whole[-1:], [])
        tally["acknowledged looked up"] += found["looked"]
        tally["lost"] += len(found["lost"])


def _ids(out: Path) -> list[str]:
    found = []
    for line in out.read_bytes().splitlines() if out.exists() else ():
        with suppress(ValueError):
            found.append(json.loads(line)["id"])
    return found


def kill_services(kills: int, folder: Path, rng: random.Random, tally: Counter[str]) -> None:
    """The service is killed while a client waits for its answer, or right after it."""
    import http.client

    for kill in numbered(kills):
        if kill % PER_STORE == 0:
            path, known = folder / f"{kill}.ndx", Acknowledged()
        child, lines = forked(victims.serving, str(path))
        address = lines.readline().strip()
        host, _, port = address.rpartition("/")[2].partition(":")
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))  # noqa: B023
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.02, 0.6))
        connection, at = http.client.HTTPConnection(host, int(port), timeout=20), 1_000_000 * kill
        with suppress(OSError, http.client.HTTPException):
            while True:
                kind, body = "application/json", json.dumps({"id": f"d{at}", "text": document(at).text})
                where, last = "/v1/check-and-add", at + 1
                if rng.random() < 0.3:
                    last = at + BATCH
                    kind, where = "application/x-ndjson", "/v1/stream/add"
                    some = [{"id": each.id, "text": each.text} for each in map(document, range(at, last))]
                    body = "".join(json.dumps(each) + "\n" for each in some)
                connection.request("POST", where, body, {"Content-Type": kind})
                answer = connection.getresponse()
                told = answer.read().decode()
                assert answer.status == 200, told
                if where.endswith("/add"):  # the lines that came
                    last = at + sum(json.loads(line).get("added") is True for line in told.splitlines())
                known.there.append([at, last])
                at = last
        signal.setitimer(signal.ITIMER_REAL, 0)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines.close()
        tally["kills"] += 1
        looked(tally, str(path), known)


BATCH = victims.BATCH


def kill_databases(kills: int, folder: Path, rng: random.Random, tally: Counter[str]) -> None:
    """PostgreSQL itself is killed, all of its processes, and started again."""
    from tests.index.postgres import Server

    server = Server()
    try:
        for kill in numbered(kills):
            if kill % PER_STORE == 0:
                address, known = f"{server.address}?index=kills_{kill}", Acknowledged()
            child, lines = forked(victims.adding, address, 1_000_000 * kill)
            said = [next(heard(lines))]
            time.sleep(rng.uniform(0, 0.4))
            _kill_server(server)
            said += [each for each in heard(lines) if "raised" not in each]
            lines.close()
            os.waitpid(child, 0)
            known.take(said)
            tally["kills"] += 1
            server.start()
            looked(tally, address, known, read_all=kill % PER_STORE == PER_STORE - 1)
    finally:
        server.remove()


def _kill_server(server: Any) -> None:
    """SIGKILL to the postmaster and to all that it started."""
    postmaster = int((server._data / "postmaster.pid").read_text().split()[0])
    tree = [postmaster, *_children(postmaster)]
    for process in tree:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    server.stop()
    for process in tree:
        while Path(f"/proc/{process}").exists() and _state(process) != "Z":
            time.sleep(0.01)
    (server._data / "postmaster.pid").unlink(missing_ok=True)


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [each for child in map(int, found) for each in (child, *_children(child))]


def _state(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


def run(what: str, number: int, seed: int) -> Counter[str]:
    """Kill so many times. Return what came of it."""
    folder, rng, tally = Path(tempfile.mkdtemp(prefix="neardup-kills-")), random.Random(seed), Counter[str]()
    tally["lost"] = 0
    try:
        victims.warm()
        if what == "damage":
            [found] = finished(damage.damaging, str(folder), number, seed, _end)
            tally.update(found)
        elif what == "filter":
            kill_filters(number, folder, rng, tally)
        elif what == "serve":
            kill_services(number, folder, rng, tally)
        elif what == "postgres":
            kill_databases(number, folder, rng, tally)
        else:
            kill_writers(what, number, folder, rng, tally)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally


def main() -> None:
    """Print what came of it; exit code 1 where anything was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--what", choices=["filter", "serve", "postgres", "compact", "backup", "damage"], required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--stores", type=int, default=1000, help="for --what damage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="stop after this time, with what was done")
    given = parser.parse_args()
    global _end
    began = time.monotonic()
    _end = began + given.seconds
    tally = run(given.what, given.stores if given.what == "damage" else given.kills, given.seed)
    told = {"what": given.what, **tally, "seconds": round(time.monotonic() - began)}
    print(json.dumps(told))
    bad = ("lost", "removed and back", "damaged after a kill", "lost in a backup", "wrong answers")
    sys.exit(any(tally[name] for name in bad))


if __name__ == "__main__":
    main()
