"""Run a command under a unit's SystemCallFilter: python confined.py NAMES COMMAND…

NAMES are the system calls that are allowed, separated by commas; others fail with EPERM, as SystemCallErrorNumber says.
systemd itself, which would do this, does not run where tests do.
"""

import ctypes
import errno
import os
import sys

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def main(names: str, command: list[str]) -> None:
    """Load the filter and become the command."""
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(_ERRNO | errno.EPERM))
    for name in names.split(","):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # others belong to other processors
            assert seccomp.seccomp_rule_add(context, _ALLOW, number, 0) == 0, name
    assert seccomp.seccomp_load(context) == 0
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
