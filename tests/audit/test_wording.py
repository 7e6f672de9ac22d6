"""One pair is not called pairs."""

from neardup import Result
from neardup.audit import LabellingSession


def test_one_pair(command, finished, tmp_path):
    folder = finished / "audit"
    ann = LabellingSession.begin(Result.open(finished), folder, pairs=1, labeller="ann")
    try:
        assert len(ann.pairs) == 1
        ann.label(0, "correct")
        LabellingSession(folder, labeller="bob").label(0, "incorrect")
        said = command("audit", finished, "--precision")
        assert "1 of 1 pair labelled" in said.stdout
        assert "1 pair has two judges or more, who do not agree." in said.stdout
        LabellingSession(folder, labeller="bob").label(0, "correct")
        assert "1 pair has two judges or more, who agree." in command("audit", finished, "--precision").stdout
        assert "1 labelled pair in " in command("audit", finished, "--export", tmp_path / "truth.jsonl").stderr
    finally:  # other tests look at this run
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
