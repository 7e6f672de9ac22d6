"""The Spark session: the user's own, or one that is started here and stopped at the end; and what its machines need.

Spark 4 and Java 17 where the session is started; Python, pyarrow and neardup of one version on every machine.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import Any

import pyarrow as pa

from neardup import _version
from neardup.errors import MissingExtra, UsageError

try:
    import pandas  # noqa: F401 - pyspark does not hand Arrow to Python without it
    import pyspark
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
except ImportError as _missing:
    raise MissingExtra("Spark", "spark") from _missing

from neardup.spark.tasks import as_it_is, spark_schema, unwrapped

_JAVA = 17
_SPARK = 4
_BATCH_BYTES = 32 << 20
"""Of an Arrow batch on its way to Python: ten thousand rows, which is Spark's own bound, may be gigabytes of text."""

_REPORT = pa.schema([(name, pa.string()) for name in ("host", "python", "pyarrow", "neardup", "failure")])


@contextmanager
def session_for(master: str | None = None) -> Iterator[SparkSession]:
    """The active session as it is; else a new one, which is stopped at the end.

    `master` is an address as Spark knows them (`local[4]`, `spark://host:7077`, `yarn`, `sc://host` for Spark Connect);
    None is what spark-submit and Spark's configuration say, and all cores of this machine where they say nothing.
    """
    _require_version(pyspark.__version__)
    active = _active()
    if active is not None:
        refuse_another(active, master)
        yield active
        return
    spark = _started(master)
    try:
        yield spark
    finally:
        spark.stop()


def _active() -> SparkSession | None:
    with suppress(PySparkException):
        return SparkSession.active()
    return None


def refuse_another(active: SparkSession, master: str | None) -> None:
    """A session on another master than the one that is asked for."""
    if master is None:
        return
    try:
        theirs = active.conf.get("spark.master", None)
    except PySparkException:  # Spark Connect need not tell
        theirs = None
    if theirs is not None and theirs != master:
        raise UsageError(
            f"there is a Spark session on {theirs} in this process, and {master} is asked for. Leave the master away, "
            "or stop that session first."
        )


def _started(master: str | None) -> SparkSession:
    remote = (master or "").startswith("sc://") or (master is None and "SPARK_REMOTE" in os.environ)
    builder: Any = SparkSession.builder.appName("neardup")
    if master is not None:
        builder = builder.remote(master) if remote else builder.master(master)
    if not remote:
        require_java()
        if _is_here(master):
            # What workers start is "python3", whichever that is, and not the Python that runs this.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in _settings(master, remote).items():
        builder = builder.config(name, value)
    try:
        spark: SparkSession = builder.getOrCreate()
    except Exception as error:  # pyspark's own, py4j's, grpc's
        above = " Java's reason stands above." if "JAVA_GATEWAY_EXITED" in str(error) else ""
        raise UsageError(
            f"no Spark session can be had on {master or 'the configured master'}: {_first(error)}{above}"
        ) from error
    return spark


def _is_here(master: str | None) -> bool:
    """Whether executors are in this process: as asked, or because nobody has configured anything else."""
    return master.startswith("local") if master is not None else not _configured()


def _configured() -> bool:
    """Whether somebody has said how Spark is to be."""
    names = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "MASTER", "PYSPARK_GATEWAY_PORT")
    return any(name in os.environ for name in names)


def _settings(master: str | None, remote: bool) -> dict[str, str]:
    settings = {
        "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
        "spark.sql.session.timeZone": "UTC",
    }
    if not remote:
        # Spark starts its workers by `python -m`, in the folder where the user is: a queue.py there is not Python's.
        settings |= {"spark.ui.showConsoleProgress": "false", "spark.executorEnv.PYTHONSAFEPATH": "1"}
    if not remote and not _configured():
        quiet = files("neardup.spark").joinpath("quiet.properties")
        settings |= {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet}"}
    if not remote and _is_here(master):
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": f"{_half_of_memory()}m",
            "spark.ui.enabled": "false",
        }
    return settings


def _half_of_memory() -> int:
    """In megabytes; Python workers have the other half."""
    try:
        return max(1024, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 >> 20)
    except (ValueError, OSError):
        return 1024


def _first(error: Exception) -> str:
    return str(unwrapped(error)).strip().partition("\n")[0]


def _require_version(found: str) -> None:
    if int(found.partition(".")[0]) < _SPARK:
        raise UsageError(
            f"pyspark {found} is installed, and neardup needs {_SPARK}.0 or newer: pip install -U 'neardup[spark]'. "
            "The cluster must have the same version of Spark."
        )


def require_java() -> None:
    """Java where a session is to be started, and new enough; else what to install."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    advice = (
        f"Install it (apt-get install openjdk-{_JAVA}-jre-headless, dnf install java-{_JAVA}-openjdk-headless, "
        f"brew install openjdk@{_JAVA}) and let JAVA_HOME name its folder. Spark Connect (sc://…) needs none here."
    )
    if java is None:
        where = f"there is no bin/java in JAVA_HOME={home}" if home else "there is no java on the PATH"
        raise UsageError(f"Spark needs Java {_JAVA} or newer, and {where}. {advice}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < _JAVA:
        found = f"{java} is Java {version[1]}" if version else f"{java} -version says {said.strip()[:200]!r}"
        raise UsageError(f"Spark needs Java {_JAVA} or newer, and {found}. {advice}")


def check_workers(spark: SparkSession) -> None:
    """Whether executors have what this process has: the same Python, pyarrow and neardup."""
    here = _here()
    try:
        rows = as_it_is(spark.range(0, 1 << 12), _reporting(), spark_schema(_REPORT)).distinct().collect()
    except Exception as error:
        wrong = re.search(r"\[?PYTHON_VERSION_MISMATCH\]?[^\n]*|(?:ModuleNotFound|Import)Error: [^\n]*", str(error))
        if wrong is None:
            raise unwrapped(error) from error
        raise _unfit([f"a worker says: {wrong[0]}"]) from None
    complaints = []
    for row in sorted(rows):
        if row.failure:
            complaints.append(f"on {row.host} neardup cannot be imported ({row.failure})")
        differing = [name for name in ("python", "neardup", "pyarrow") if row[name] and row[name] != here[name]]
        complaints += [f"on {row.host} {name} is {row[name]}, and {here[name]} here" for name in differing]
    if complaints:
        raise _unfit(complaints)


def _here() -> dict[str, str]:
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "neardup": _version.__version__,
        "pyarrow": pa.__version__,
    }


def _reporting() -> Any:
    """A function that is sent as it is and not by its name: there may be no neardup where it goes."""

    def report(batches: Any) -> Any:
        import socket
        import sys

        import pyarrow

        for _ in batches:
            pass
        version = failure = None
        try:
            import neardup.kernels.text
            import neardup.sources

            version = neardup.__version__
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        values = [socket.gethostname(), python, pyarrow.__version__, version, failure]
        names = ["host", "python", "pyarrow", "neardup", "failure"]
        columns = [pyarrow.array([value], pyarrow.string()) for value in values]
        yield pyarrow.RecordBatch.from_arrays(columns, names=names)

    return report


def _unfit(complaints: list[str]) -> UsageError:
    here = _here()
    if not os.environ.get("PYSPARK_PYTHON") and all("No module named" in complaint for complaint in complaints):
        return UsageError(
            f"the Spark workers run another Python, without what is needed ({complaints[0]}). Where they are on this "
            "machine, let PYSPARK_PYTHON name this one before the session starts: "
            f"export PYSPARK_PYTHON={sys.executable}"
        )
    shown = "; ".join(complaints[:3]) + (f"; and {len(complaints) - 3} more" if len(complaints) > 3 else "")
    return UsageError(
        f"the Spark workers cannot run neardup: {shown}. They need Python {here['python']} with neardup "
        f"{here['neardup']} and pyarrow {here['pyarrow']}. Either put them on every machine or into the image (pip "
        f"install 'neardup=={here['neardup']}' 'pyarrow=={here['pyarrow']}') and let PYSPARK_PYTHON name that Python; "
        "or send this environment along: venv-pack -o environment.tar.gz, then PYSPARK_PYTHON=./environment/bin/python "
        "spark-submit --archives environment.tar.gz#environment …"
    )
