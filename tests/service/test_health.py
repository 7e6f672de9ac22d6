"""/readyz and /metrics know a folder that is gone, a full disk and damaged blocks; strangers are told no details."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from neardup import Index
from neardup.service.problems import AILMENTS
from tests.service.serving import fresh, name, problem, serving


def metric(service, line: str) -> float:
    found = [
        each.rpartition(" ")[2] for each in service.http.get("/metrics").text.splitlines() if each.startswith(line)
    ]
    assert found, line
    return float(found[0])


def test_a_folder_that_was_moved_is_known_and_nothing_is_acknowledged(tmp_path):
    path = tmp_path / "seen.ndx"
    with serving(path) as service:
        assert metric(service, 'neardup_store_free_bytes{index="default"}') > 0
        assert metric(service, 'neardup_store_errors_total{index="default",kind="moved"}') == 0
        assert service.post("add", {"id": "a", "text": fresh()}).json()["added"]
        path.rename(tmp_path / "elsewhere")
        found = problem(service.http.get("/readyz"), 503, "store")
        assert "moved" in found["detail"]
        assert str(tmp_path) not in json.dumps(found), "strangers may ask this"
        refused = problem(service.post("add", {"id": "b", "text": fresh()}), 503, "store")
        [line] = service.stream("add", [{"id": name(), "text": fresh()}])
        assert line["error"]["type"] == "/docs#store"
        assert refused["detail"] == line["error"]["detail"] == AILMENTS["moved"]
        assert metric(service, 'neardup_store_errors_total{index="default",kind="moved"}') == 2
        (tmp_path / "elsewhere").rename(path)
        assert service.http.get("/readyz").status_code == 200
        assert service.post("add", {"id": "c", "text": fresh()}).json()["added"]
        said = service.stop()
    assert said.count('"store":"moved"') == 1, "once, with all details"
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert [line["index"] for line in lines if line.get("store") == "sound"] == ["default"]
    [met] = [line["unreachable"] for line in lines if "unreachable" in line]
    assert met.startswith(f"{path}: the folder was moved"), "requests that met it have the details in the log, too"
    with Index.open(path) as index:
        assert ["a" in index, "b" in index, "c" in index] == [True, False, True]


def test_a_damaged_block_is_known_when_it_was_met(tmp_path):
    path = tmp_path / "seen.ndx"
    with Index.open(path, "stream", keep="text") as index:
        ids, texts = [name() for _ in range(300)], [fresh(200) for _ in range(300)]
        index.add_many([{"id": id_, "text": text} for id_, text in zip(ids, texts, strict=True)])
        index.compact()
    with serving(path, "--keep", "text") as service:
        assert service.http.get("/readyz").status_code == 200
        for table in path.glob("*.sst"):
            content = bytearray(table.read_bytes())
            content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
            with table.open("r+b") as file:  # the one that is open
                file.write(content)
        statuses = {service.http.get(f"/v1/documents/{id_}").status_code for id_ in map(_quoted, ids[:100])}
        assert 503 in statuses
        found = problem(service.http.get("/readyz"), 503, "store")
        assert "cannot be read" in found["detail"]
        assert str(path) not in json.dumps(found)
        assert metric(service, 'neardup_store_errors_total{index="default",kind="read"}') >= 1


def _quoted(id_: str) -> str:
    from urllib.parse import quote

    return quote(id_, safe="")


@pytest.fixture
def small_disk(tmp_path: Path):
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "none", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_known_before_a_write_fails_and_after_it(small_disk):
    path = small_disk / "seen.ndx"
    with serving(path, "--keep", "text") as service:
        assert service.http.get("/readyz").status_code == 200
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - (12 << 20)))
        found = problem(service.http.get("/readyz"), 503, "store")
        assert "nearly full" in found["detail"]
        assert service.post("add", {"id": name(), "text": fresh()}).json()["added"], "32 MB are a margin"
        assert metric(service, 'neardup_store_free_bytes{index="default"}') < 13 << 20
        large = " ".join(fresh(1000) for _ in range(600))
        refused = [service.post("add", {"id": name(), "text": large + fresh()}) for _ in range(6)]
        assert 507 in {answer.status_code for answer in refused}
        assert metric(service, 'neardup_store_errors_total{index="default",kind="full"}') >= 1
        ballast.unlink()
        assert service.post("add", {"id": name(), "text": fresh()}).json()["added"]
        assert service.http.get("/readyz").status_code == 200
        assert "writes may soon fail" in service.stop()


def test_jobs_on_a_folder_that_was_moved_say_so_and_name_the_index(tmp_path, command_line):
    path = tmp_path / "news.ndx"
    with serving(f"news={path}") as service:
        assert service.post("add", {"id": "a", "text": fresh()}).json()["added"]
        path.rename(tmp_path / "elsewhere")
        for what in ("verify", "compact"):
            done = command_line("index", what, service.address)
            assert done.returncode == 1
            assert f"{service.address}/v1/indexes/news: {what} failed: {path}: the folder was moved" in done.stderr
            assert "damaged" not in done.stdout + done.stderr
        assert problem(service.http.get("/v1/index"), 503, "store")["detail"] == AILMENTS["moved"]
