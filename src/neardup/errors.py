"""What can go wrong, as a tree. Every message says what, where, the numbers and the next move.

NeardupError
├── UsageError        a choice that cannot work, or two that contradict each other     (exit code 2)
│   ├── RecipeError   a recipe that cannot work, or artefacts of two recipes mixed
│   ├── TakenId       an id that an index has with another text
│   └── TokenError    a service that asks for a token, or for another one
├── InputError        a document, file or folder that cannot be read as asked
├── WorkError         a work folder of another run, or one that is damaged
├── OutputError       a result that cannot be written
├── ReaderError       the process that reads pages does not start
├── StoreError        an index that cannot be opened or read: in use, damaged, of another version
│   └── Unreachable   an index that is not where it was, or whose server does not answer; no sign of damage
├── Abandoned         work that nobody waits for any more
└── MissingExtra      an optional part that is not installed; says the line that installs it
"""

from typing import ClassVar, Literal


class NeardupError(Exception):
    """Root of all errors of this package."""

    exit_code = 1


class UsageError(NeardupError):
    """A choice that cannot work, or two that contradict each other."""

    exit_code = 2


class RecipeError(UsageError):
    """A recipe that cannot work, or artefacts of two recipes mixed."""


class TakenId(UsageError):
    """An id that an index has with another text."""

    def __init__(self, what: str, otherwise: str = "Use update to replace it, or give it another id.") -> None:
        super().__init__(f"{what} {otherwise}")
        self.what = what


class TokenError(UsageError):
    """A service that asks for a token, or for another one."""


class InputError(NeardupError):
    """A document, file or folder that cannot be read as asked."""


class WorkError(NeardupError):
    """A work folder that belongs to another run, or is damaged."""


class OutputError(NeardupError):
    """A result that cannot be written."""


class ReaderError(NeardupError):
    """The process that reads HTML pages does not start. No page is to blame."""


class StoreError(NeardupError):
    """An index that cannot be opened or read: in use by another process, damaged, or of another version."""


class Unreachable(StoreError):
    """An index that is not where it was, or whose server does not answer. Nothing says that it is damaged."""

    ailment: ClassVar[Literal["away", "moved"]] = "away"
    """The kind of problem that the health of a store has for this."""


class Abandoned(NeardupError):
    """Work that nobody waits for any more: its asker left, or was answered already."""


class MissingExtra(NeardupError):
    """An optional part that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part; install it with: pip install 'neardup[{extra}]'")
