"""Take from this process what reading pages does not need: files, the network, other programs, other processes.

    seccomp    a list of system calls that are allowed; all others fail with EPERM (x86-64 and aarch64)
    landlock   no file, no TCP port, no signal to others, whatever the architecture (Linux 5.13 and newer)
    limits     no more open files, no files written, no processes, no core; an upper bound of memory

Two mechanisms, because either may be missing: a container may forbid one, an old kernel lack the other, and the list of
calls exists for two architectures. What an extracting process still can do is to compute, and to write to its pipe.

Layouts and numbers are those of Linux's headers: linux/filter.h, linux/seccomp.h, linux/landlock.h, asm/unistd.h.
"""

import ctypes
import os
import struct
import sys
from contextlib import suppress

MEMORY = 8 << 30
"""Bytes of address space. A page that needs more has no text, and is counted."""

# read, write, close, fstat, lseek, mmap, mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn,
# sched_yield, mremap, madvise, getpid, exit, getrusage, sigaltstack, gettid, futex, restart_syscall, clock_gettime,
# exit_group, getrandom, rseq. Not tgkill, which abort() would use: it can also end the process that reads the answers.
# fmt: off
_CALLS = {
    "x86_64": (0xC000003E, (
        0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 28, 39, 60, 98, 131, 186, 202, 219, 228, 231, 318, 334,
    )),
    "aarch64": (0xC00000B7, (
        63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 124, 216, 233, 172, 93, 165, 132, 178, 98, 128, 113, 94,
        278, 293,
    )),
}
# fmt: on
"""By machine: the kernel's number of the architecture, and the calls that are allowed."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _VERSION = 444, 446, 1


def confine(*, memory: int = MEMORY) -> str:
    """Give up every right that reading pages does not need, for good. Return what the platform could take.

    Returns:
        `seccomp, landlock` where both are there; else what is there, and after a semicolon what is not and why.
    """
    if not sys.platform.startswith("linux"):
        _limit(memory)
        return f"limits alone; seccomp and landlock: {sys.platform} has neither"
    kernel = ctypes.CDLL(None, use_errno=True)
    kernel.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    failures = {"landlock": _landlock(kernel)}  # needs a file to be open
    _limit(memory)
    failures["seccomp"] = _seccomp(kernel)  # last: it allows none of the calls above
    held = [name for name in ("seccomp", "landlock") if failures[name] is None]
    missing = [f"{name}: {reason}" for name, reason in failures.items() if reason is not None]
    return "; ".join([", ".join(held) or "limits alone", *missing])


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    bounds = {"AS": memory, "NOFILE": 0, "FSIZE": 0, "NPROC": 0, "CORE": 0}
    for name, bound in bounds.items():
        with suppress(AttributeError, OSError, ValueError):  # not everywhere, and not above what is allowed already
            which = getattr(resource, f"RLIMIT_{name}")
            _, most = resource.getrlimit(which)
            allowed = bound if most == resource.RLIM_INFINITY else min(bound, most)
            resource.setrlimit(which, (allowed, allowed))


def _landlock(kernel: ctypes.CDLL) -> str | None:
    """Forbid all files, TCP ports and signals to others. Return why not, if not."""
    abi = kernel.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if abi < 1:
        return _reason()
    files = (1 << (13, 14, 15, 15)[min(abi, 4) - 1]) - 1 if abi < 5 else 0xFFFF
    rules = struct.pack("<QQQ", files, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    made = kernel.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    if made < 0:
        return _reason()
    failed = kernel.syscall(_LANDLOCK_RESTRICT, made, 0)
    reason = _reason() if failed else None
    os.close(made)
    return reason


def _seccomp(kernel: ctypes.CDLL) -> str | None:
    """Allow the calls of the list only. Return why not, if not."""
    if machine() not in _CALLS or sys.maxsize < 1 << 32:
        return f"no list of system calls for {machine()}"
    architecture, calls = _CALLS[machine()]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    steps += [(_EQUAL, len(calls) - at, 0, call) for at, call in enumerate(calls)]
    steps += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    return _reason() if kernel.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) else None


def machine() -> str:
    """Return the machine's architecture as the kernel names it."""
    return os.uname().machine


def _reason() -> str:
    return os.strerror(ctypes.get_errno())
