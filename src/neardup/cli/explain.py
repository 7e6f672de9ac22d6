"""neardup explain OUT ID…."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.comparing.documents import inert
from neardup.errors import InputError
from neardup.model import TOWARDS

if TYPE_CHECKING:
    import pyarrow as pa


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
    kind = pq.ParquetDataset(out / "removed.parquet").schema.field("id").type
    asked = pc.field("id").isin(_typed(ids, kind))
    removed = _as_text(pq.read_table(out / "removed.parquet", filters=asked))
    members = pq.read_table(out / "groups.parquet", filters=asked)
    theirs = pc.field("group_id").isin(members["group_id"].unique())
    members, groups = _as_text(members), _as_text(pq.read_table(out / "groups.parquet", filters=theirs))
    present = _present(out, ids)
    for name in ids:
        row = removed.filter(pc.field("id") == name).to_pylist()
        member = members.filter(pc.field("id") == name).to_pylist()
        if present is not None and name not in present:
            raise InputError(f"there is no document {name!r} in {out}.")
        group = groups.filter(pc.field("group_id") == member[0]["group_id"])["id"].to_pylist() if member else [name]
        if as_json:
            facts = {"id": name, "kept": not row, **(row[0] if row else {}), "group": group}
            click.echo(json.dumps(facts, ensure_ascii=False))
        elif row:
            rest = f"a group of {len(group)}" if member else "the kept one is a document of the index"
            click.echo(f"{inert(name)}: removed, {_why(row[0])}; {rest}.")
        elif member:
            others = ", ".join(inert(g) for g in group if g != name)
            click.echo(f"{inert(name)}: kept, stands for {len(group) - 1}: {others}")
        else:
            sure = "" if present is not None else ", if it is in the collection at all"
            click.echo(f"{inert(name)}: kept, and in no group{sure}.")


def _typed(ids: tuple[str, ...], kind: "pa.DataType") -> "pa.Array":
    """The ids in the type that they have in the tables; without those that cannot be of it."""
    import pyarrow as pa

    if kind == pa.string():
        return pa.array(ids, kind)
    numbers = [name for name in ids if name.removeprefix("-").isdecimal() and str(int(name)) == name]
    low, high = (-(2**63), 2**64)
    return pa.array([int(name) for name in numbers if low <= int(name) < high]).cast(kind, safe=False)


def _as_text(table: "pa.Table") -> "pa.Table":
    """A table with ids as people type them."""
    import pyarrow as pa

    names = ("id", "kept_id", "group_id", "group")
    return table.cast(pa.schema([f.with_type(pa.string()) if f.name in names else f for f in table.schema]))


def _present(out: Path, ids: tuple[str, ...]) -> set[str] | None:
    """Which of these documents there are; None where the work folder is gone and nobody can tell."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from neardup.sketches.artefact import Collection, check_rows, hash_ids

    sketches = out / "work" / "sketches"
    paths = sorted(sketches.glob("*.arrow"))
    if (out / "work" / "sketches.done").is_dir():  # of a run on Spark
        return set(pq.read_table(sketches, columns=["id"], filters=pc.field("id").isin(list(ids)))["id"].to_pylist())
    if not paths:
        return None
    for path in paths:
        check_rows(path)
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
