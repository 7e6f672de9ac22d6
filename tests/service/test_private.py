"""Files with secrets: those that others may read are refused, and every usual way to hand one over works."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from neardup.errors import UsageError
from neardup.service.private import LONGEST, read_private

NOBODY = 65534


@pytest.fixture
def open_folder():
    """A folder that others may enter, which those of pytest are not."""
    with TemporaryDirectory(prefix="neardup-private-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def file_of(path, mode=0o600, owner=None, content=b"secret"):
    path.write_bytes(content)
    os.chmod(path, mode)
    if owner is not None:
        os.chown(path, *owner)
    return path


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
def test_a_file_that_its_owner_alone_may_read_is_read(tmp_path, mode):
    assert read_private(file_of(tmp_path / "key", mode), "--tls-key") == b"secret"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o601, 0o777, 0o440])
def test_a_file_that_others_may_use_is_refused_with_what_to_do(tmp_path, mode):
    path = file_of(tmp_path / "key", mode)
    with pytest.raises(UsageError, match=rf"--tls-key .*key: others may .*mode {mode:04o}.*chmod 600 .*key") as refused:
        read_private(path, "--tls-key")
    assert "secret" not in str(refused.value)


def test_a_link_counts_as_the_file_that_it_leads_to(tmp_path):
    good, bad = file_of(tmp_path / "good"), file_of(tmp_path / "bad", 0o644)
    for link, target in (("to-good", good), ("to-bad", bad)):
        (tmp_path / link).symlink_to(target)
    assert read_private(tmp_path / "to-good", "--tokens") == b"secret"
    with pytest.raises(UsageError, match="chmod 600"):
        read_private(tmp_path / "to-bad", "--tokens")


def test_a_pipe_of_the_shell_is_read_to_its_end():
    """--tokens <(secret-tool …) names /dev/fd/N."""
    read, write = os.pipe()
    try:
        code = f"import os, time; os.write({write}, b'se'); time.sleep(0.2); os.write({write}, b'cret')"
        with subprocess.Popen([sys.executable, "-c", code], pass_fds=[write]):
            os.close(write)
            assert read_private(f"/dev/fd/{read}", "--tokens") == b"secret"
    finally:
        os.close(read)


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert read_private(tmp_path / "pipe", "--tokens") == b""  # nobody writes into it
    for path, why in ((tmp_path, "Is a directory"), ("/dev/zero", "is no file"), (tmp_path / "none", "No such file")):
        with pytest.raises(UsageError, match=why):
            read_private(path, "--tokens")
    with pytest.raises(UsageError, match="another file"):
        read_private(file_of(tmp_path / "long", content=bytes(LONGEST + 1)), "--tokens")


def test_a_credential_of_systemd_may_be_readable_by_its_group(tmp_path, monkeypatch):
    inside = tmp_path / "credentials"
    inside.mkdir(mode=0o700)
    path = file_of(inside / "tokens", 0o440, owner=(0, 0) if os.getuid() == 0 else None)
    if os.getuid() == 0:
        with pytest.raises(UsageError, match="chmod 600"):
            read_private(path, "--tokens")
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(inside))
        assert read_private(path, "--tokens") == b"secret"
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(inside))
    with pytest.raises(UsageError, match="chmod 600"):
        read_private(file_of(inside / "open", 0o444), "--tokens")
    with pytest.raises(UsageError, match="chmod 600"):
        read_private(file_of(tmp_path / "beside", 0o440), "--tokens")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
def test_a_file_of_another_user_is_refused_and_one_of_root_for_our_group_is_not(open_folder):
    """As another user, in a process of its own."""
    with pytest.raises(UsageError, match=f"belongs to another user .uid {NOBODY}"):
        read_private(file_of(open_folder / "theirs", 0o600, (NOBODY, NOBODY)), "--tokens")
    cases = {
        "own": file_of(open_folder / "own", 0o600, (NOBODY, NOBODY)),
        "own-group": file_of(open_folder / "own-group", 0o640, (NOBODY, NOBODY)),
        "root-group": file_of(open_folder / "root-group", 0o440, (0, NOBODY)),
        "root-writable": file_of(open_folder / "root-writable", 0o460, (0, NOBODY)),
        "daemon": file_of(open_folder / "daemon", 0o640, (1, NOBODY)),
    }
    code = (
        "import os, sys\n"
        "from neardup.errors import UsageError\n"
        "from neardup.service.private import read_private\n"
        f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        print(read_private(path, '--tokens').decode())\n"
        "    except UsageError as error:\n        print('chmod' in str(error) and 'chmod' or 'chown')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *cases.values()], capture_output=True, text=True, check=True)
    said = dict(zip(cases, done.stdout.split(), strict=True))
    assert said == {
        "own": "secret", "own-group": "chmod", "root-group": "secret", "root-writable": "chmod", "daemon": "chown"
    }  # fmt: skip
