"""Commands in one process, one after the other, with the memory that each takes. Starting one each would take seconds.

    python -m tests.faults.watched < [{"arguments": […], "stdin": PATH}, …] > [{"code": 0, "grew": BYTES, …}, …]

Memory is the highest that was resident (VmHWM, which Linux resets on demand) above what was resident before. No command
may take more than AT_MOST, so that a bomb that goes off ends here.
"""

import ctypes
import gc
import json
import os
import resource
import sys
import tempfile
import time
from typing import Any

AT_MOST = 12 << 30


def _status(key: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(key))


def _let_go() -> None:
    import pyarrow

    gc.collect()
    pyarrow.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


def _run(arguments: list[str], stdin: str | None) -> dict[str, Any]:
    """What a command says, how it ends, and how much memory it takes."""
    from neardup.cli import main

    _let_go()
    with open(stdin or os.devnull, "rb") as given:
        os.dup2(given.fileno(), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before, began = _status("VmRSS"), time.monotonic()
        try:
            main(arguments)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BaseException as error:
            code, _ = 99, print(f"{type(error).__name__}: {error}", file=sys.stderr)
        took = time.monotonic() - began
        grew = _status("VmHWM") - before
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(saved, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read(1 << 16).decode("utf-8", "replace"))
    return {"code": code, "grew": grew, "seconds": took, "stdout": said[0], "stderr": " ".join(said[1].split())}


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (AT_MOST, AT_MOST))
    asked = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w")
    for one in asked:
        print(json.dumps(_run(one["arguments"], one.get("stdin"))), file=answers, flush=True)


if __name__ == "__main__":
    _main()
