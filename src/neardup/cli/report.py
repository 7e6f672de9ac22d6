"""neardup report OUT."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.atomic import local_place
from neardup.cli.options import without_unneeded

if TYPE_CHECKING:
    from neardup.engines.local import LocalEngine


def _check_texts(engine: "LocalEngine", target: Path) -> None:
    """A page with texts is not written over by one without."""
    from neardup.errors import InputError, NeardupError

    try:
        engine.check_inputs()
    except (NeardupError, OSError) as error:
        raise InputError(
            f"the inputs are not what they were when the run was made, so a new page would have no texts, and {target} "
            "is left as it is. Put them back, or name another file with -o."
        ) from error


@click.command(no_args_is_help=True)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", "path", type=local_place, metavar="PATH", help="The file to write.  [default: OUT/report.html]"
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the samples that it shows.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(out: Path, path: Path | None, seed: int, quiet: bool) -> None:
    """Make the page that shows the finished run in OUT, and print where it is.

    `neardup dedup` makes it at the end of every run. Made again, it can show other samples (--seed). It needs OUT/work
    and, for texts, the inputs as they were.
    """
    without_unneeded()
    from neardup.cli.show import Talk
    from neardup.outputs.folder import OutputFolder
    from neardup.report import write_report
    from neardup.result import Result

    target = out / "report.html" if path is None else path
    with Talk(quiet=quiet, verbose=False) as talk:
        result = Result.open(out, talk)
        engine = result.gathered.engine
        if path is None:
            folder = OutputFolder(out)
            folder.refuse_foreign()
            if target.exists():
                _check_texts(engine, target)
            folder.note(["report.html"])
        with engine.steps.step("report", sum(split.size for split in engine.splits)):
            write_report(result, target, seed=seed)
    click.echo(target)
