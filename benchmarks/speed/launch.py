"""A small process that starts a command, waits for it and what it leaves behind, and reports what they used.

    python -I -S launch.py REPORT.json COMMAND [ARGUMENT …]

Linux hands a parent's peak memory down to the child it starts, so a large benchmark process would be seen as
every command's peak. This one is small (about 10 MB, the least peak that can be measured), and imports only
what it needs.
"""

import ctypes
import json
import os
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
ORPHAN_SECONDS = 10.0


def main() -> None:
    """Start, wait, report."""
    report, *command = sys.argv[1:]
    # Descendants that outlive their parent come to this process instead of init and can be waited for.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - began
    usages = [usage]
    deadline = time.monotonic() + ORPHAN_SECONDS
    while time.monotonic() < deadline:
        try:
            orphan, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if orphan:
            usages.append(usage)
        else:
            time.sleep(0.01)
    found = {
        "exit_code": os.waitstatus_to_exitcode(status),
        "wall": wall,
        "cpu": sum(each.ru_utime + each.ru_stime for each in usages),
        "peak_rss": max(each.ru_maxrss for each in usages) * 1024,
    }
    with open(report, "w") as out:
        json.dump(found, out)


if __name__ == "__main__":
    main()
