"""Make docs/cli.md from the commands themselves, and the table of filters in docs/mathematics.md.

python scripts/make_reference.py
"""

import re
from pathlib import Path

import click

from neardup.analysis.filters import choose_filter
from neardup.cli.app import cli

DOCS = Path(__file__).parent.parent / "docs"


def reference() -> str:
    pages = ["# Command line", "", "Made by `scripts/make_reference.py`; stdout is data, stderr is talk.", ""]
    pages += ["Exit codes: 0 fine, 1 failed, 2 used wrongly, 130 interrupted.", ""]
    context = click.Context(cli, info_name="neardup", **cli.context_settings)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name, max_content_width=100, terminal_width=100)
        pages += [f"## neardup {name}", "", "```", command.get_help(inner), "```", ""]
        for part in command.commands.values() if isinstance(command, click.Group) else ():
            innermost = click.Context(
                part, parent=inner, info_name=part.name, max_content_width=100, terminal_width=100
            )
            pages += [f"### neardup {name} {part.name}", "", "```", part.get_help(innermost), "```", ""]
    return "\n".join(pages)


def curves() -> str:
    rows = []
    for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        f = choose_filter(t, 0.99)
        chances = " | ".join(f"{f.probability(x):.4f}" for x in (t, t - 0.1, t - 0.3))
        rows.append(f"| {t} | {f.k} | {f.s} | {chances} |")
    return "\n".join(rows)


def mathematics(text: str) -> str:
    head = "|---|---|---|---|---|---|\n"
    return re.sub(re.escape(head) + r"(.|\n)*?\n\n", lambda _: head + curves() + "\n\n", text, count=1)


if __name__ == "__main__":
    (DOCS / "cli.md").write_text(reference())
    page = DOCS / "mathematics.md"
    page.write_text(mathematics(page.read_text()))
