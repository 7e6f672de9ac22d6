"""neardup explain OUT ID…."""

import json
from pathlib import Path
from typing import Any

import click

from neardup.comparing.documents import inert
from neardup.errors import InputError
from neardup.model import TOWARDS


@click.command(no_args_is_help=True)
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(out: Path, ids: tuple[str, ...], as_json: bool) -> None:
    """Say why documents of a finished run in OUT were kept or removed."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if not (out / "removed.parquet").exists():
        far = "; copy removed.parquet and groups.parquet to a folder of this machine" if ":/" in str(out) else ""
        raise InputError(f"{out} holds no finished run: there is no removed.parquet in it{far}.")
    asked = pc.field("id").isin(list(ids))
    removed = pq.read_table(out / "removed.parquet", filters=asked)
    members = pq.read_table(out / "groups.parquet", filters=asked)
    theirs = pc.field("group").isin(members["group"].unique())
    groups = pq.read_table(out / "groups.parquet", filters=theirs)
    present = _present(out, ids)
    for name in ids:
        row = removed.filter(pc.field("id") == name).to_pylist()
        member = members.filter(pc.field("id") == name).to_pylist()
        if present is not None and name not in present:
            raise InputError(f"there is no document {name!r} in {out}.")
        group = groups.filter(pc.field("group") == member[0]["group"])["id"].to_pylist() if member else [name]
        if as_json:
            facts = {"id": name, "kept": not row, **(row[0] if row else {}), "group": group}
            click.echo(json.dumps(facts, ensure_ascii=False))
        elif row:
            rest = f"a group of {len(group)}" if member else "a document of the index"
            click.echo(f"{inert(name)}: removed, {_why(row[0])}; {rest}.")
        elif member:
            others = ", ".join(inert(g) for g in group if g != name)
            click.echo(f"{inert(name)}: kept, stands for {len(group) - 1}: {others}")
        else:
            sure = "" if present is not None else ", if it is in the collection at all"
            click.echo(f"{inert(name)}: kept, and in no group{sure}.")


def _present(out: Path, ids: tuple[str, ...]) -> set[str] | None:
    """Which of these documents there are; None where the work folder is gone and nobody can tell."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from neardup.sketches.artefact import Collection, hash_ids

    sketches = out / "work" / "sketches"
    paths = sorted(sketches.glob("*.arrow"))
    if (out / "work" / "sketches.done").is_dir():  # of a run on Spark
        return set(pq.read_table(sketches, columns=["id"], filters=pc.field("id").isin(list(ids)))["id"].to_pylist())
    if not paths:
        return None
    there = np.isin(hash_ids(pa.array(ids, pa.string())), Collection(paths).numbers("id_hash"))
    return {name for name, known in zip(ids, there, strict=True) if known}


def _why(removed: dict[str, Any]) -> str:
    """The relation and the numbers that are known."""
    why = f"{TOWARDS[removed['relation']]} {inert(removed['kept_id'])}: "
    if removed["resemblance"] is None:
        return why + f"{removed['measured']} {removed['score']:g}"
    why += f"resemblance {removed['resemblance']:.4f} ({removed['measured']})"
    if removed["removed_in_kept"] is not None:
        why += f", {removed['removed_in_kept']:.1%} of it in the kept one"
        why += f", {removed['kept_in_removed']:.1%} of the kept one in it"
    return why
