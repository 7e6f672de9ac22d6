"""A keep policy compares every column by its own type, exactly."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.sketches.sortable import sortable

TEXT = "the ferry to the island leaves at nine and at noon and at six in the evening"
ZONES = st.sampled_from([timezone(timedelta(minutes=m)) for m in (-720, -90, 0, 60, 345, 840)])
MOMENTS = st.datetimes(datetime(1678, 1, 1), datetime(2262, 1, 1))

NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**53 - 3, 2**53 + 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**20), max_value=10**20),
)


def order_of(value: object, kind: pa.DataType | None = None) -> bytes:
    return sortable(pa.array([None, value], kind), "c")["order"][1].as_py()


def exact(value: object) -> Fraction:
    return Fraction(value)


@given(NUMBERS, NUMBERS)
def test_numbers_of_all_types_are_in_one_exact_order(a, b):
    first, second = order_of(a), order_of(b)
    assert (first < second) == (exact(a) < exact(b))
    assert (first == second) == (exact(a) == exact(b))


@given(st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1))
def test_integers_without_a_sign_too(a, b):
    first, second = order_of(a, pa.uint64()), order_of(b, pa.int64())
    assert ((first > second) - (first < second)) == (a > b) - (a < b)


@given(MOMENTS, ZONES, MOMENTS, ZONES, st.sampled_from(["us", "ns"]))
def test_points_in_time_are_compared_as_such(a, zone_a, b, zone_b, unit):
    a, b = a.replace(tzinfo=zone_a), b.replace(tzinfo=zone_b)
    first = order_of(a, pa.timestamp("us", "UTC" if zone_a is UTC else "+02:00"))
    second = order_of(b, pa.timestamp(unit, "UTC"))
    assert ((first > second) - (first < second)) == (a > b) - (a < b)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (st.timedeltas(timedelta(-100_000), timedelta(100_000)), pa.duration("us")),
        (st.dates(), pa.date32()),
        (st.dates(), pa.date64()),
        (st.times(), pa.time64("us")),
        (st.datetimes(), pa.timestamp("us")),
        (st.text(st.characters(exclude_categories=["Cs"])), pa.large_string()),
        (st.binary(), pa.binary()),
        (st.booleans(), pa.bool_()),
        (st.integers(-128, 127), pa.int8()),
        (st.integers(0, 2**32 - 1), pa.uint32()),
        (st.floats(width=32, allow_nan=False), pa.float32()),
        (st.decimals(-(10**29), 10**29, places=8), pa.decimal128(38, 8)),
        (st.decimals(-(10**60), 10**60, places=10), pa.decimal256(76, 10)),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else "",
)
def test_every_type_in_its_own_order(values, kind):
    @given(values, values)
    def compared(a, b):
        first, second = order_of(a, kind), order_of(b, kind)
        if isinstance(a, str):
            a, b = a.encode(), b.encode()
        assert ((first > second) - (first < second)) == (a > b) - (a < b)

    compared()


def kept_of(values: list, kind: pa.DataType | None, keep: str) -> int:
    table = pa.table({"id": [str(i) for i in range(len(values))], "text": [TEXT] * len(values), "v": values})
    if kind is not None:
        table = table.set_column(2, "v", pa.array(values, kind))
    return int(neardup.dedup(table, keep=keep).kept["id"][0].as_py())


def test_the_values_that_were_compared_wrongly():
    late, early = datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=5)))
    assert kept_of([early, late], pa.timestamp("us", "+05:00"), "max:v") == 1
    assert kept_of([2**53 + 1, 2**53], pa.uint64(), "max:v") == 0
    assert kept_of([2**53, 2**53 + 1], pa.uint64(), "max:v") == 1
    digits = [Decimal("0.1000000000000000001"), Decimal("0.1000000000000000002")]
    assert kept_of(digits, pa.decimal128(38, 19), "max:v") == 1
    assert kept_of(digits[::-1], pa.decimal128(38, 19), "max:v") == 0
    assert kept_of([timedelta(9), timedelta(10)], pa.duration("s"), "max:v") == 1
    assert kept_of([time(9), time(10)], pa.time32("s"), "min:v") == 0
    assert kept_of([date(2024, 1, 31), date(2024, 2, 1)], None, "max:v") == 1
    assert kept_of(["10", "9"], None, "max:v") == 1


def dedup_csv(tmp_path, values: list[str], keep: str) -> neardup.Result:
    rows = "".join(f"{i},{TEXT},{value}\n" for i, value in enumerate(values))
    (tmp_path / "in.csv").write_text("id,text,v\n" + rows)
    return neardup.dedup(tmp_path / "in.csv", keep=keep)


@pytest.mark.parametrize(
    ("values", "keep", "winner"),
    [
        (["9", "10", ""], "max:v", "1"),
        (["0.5", "9007199254740993", "9007199254740992"], "max:v", "1"),
        (["-1e3", "nan", "-2"], "min:v", "0"),
        (["01234", "1234"], "prefer:v=01234", "0"),
        (["1234", "01234"], "prefer:v=01234", "1"),
        (["01234", "1000"], "max:v", "1"),
        (["n/a", "9", "10"], "min:v", "2"),
    ],
)
def test_values_of_csv_files(tmp_path, values, keep, winner):
    assert dedup_csv(tmp_path, values, keep).kept["id"].to_pylist() == [winner]


def test_codes_are_said_to_be_compared_as_text(tmp_path):
    assert "compared as text" in dedup_csv(tmp_path, ["01234", "1000"], "max:v").said[-1]
    assert "compared as text" not in dedup_csv(tmp_path, ["1234", "1000"], "max:v").said[-1]


def test_fields_of_json_lines_keep_their_own_types(tmp_path):
    path = tmp_path / "in.jsonl"

    def kept(*values: object, keep: str = "max:v") -> int:
        path.write_text("".join(json.dumps({"id": i, "text": TEXT, "v": v}) + "\n" for i, v in enumerate(values)))
        return int(neardup.dedup(path, keep=keep).kept["id"][0].as_py())

    assert kept(0.5, 2**53 + 1, 2**53) == 1
    assert kept(2**70, 2**70 + 1, 1) == 1
    assert kept(1, 0.5, None) == 0
    assert kept(1, 0.5, keep="prefer:v=0.5") == 1
    with pytest.raises(neardup.InputError, match="holds text and numbers, which have no common order"):
        kept("1", 2)
    with pytest.raises(neardup.InputError, match="no order"):
        kept([1], 2)


def test_files_of_several_types_are_compared(tmp_path):
    columns = [pa.array([2**53 + 1], pa.int64()), pa.array([0.25]), pa.array([Decimal("9007199254740993.5")])]
    for number, column in enumerate(columns):
        pq.write_table(pa.table({"id": [str(number)], "text": [TEXT], "v": column}), tmp_path / f"{number}.parquet")
    for keep, winner in (("max:v", "2"), ("min:v", "1")):
        assert neardup.dedup(tmp_path, keep=keep).removed["kept_id"].to_pylist() == [winner] * 2
    pq.write_table(pa.table({"id": ["3"], "text": [TEXT], "v": [date(2024, 1, 1)]}), tmp_path / "3.parquet")
    with pytest.raises(neardup.InputError, match="holds numbers and dates"):
        neardup.dedup(tmp_path, keep="max:v")
