"""Scripts in forks of one process: each is as fresh as a new Python, and ends as it would there."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelsweep.base.fork_server import ForkServer

# A library that notes how often it is imported, and by whom it was changed.
LIBRARY = "import os\nopen('imports', 'a').write(f'{os.getpid()}\\n')\nchanged = False\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Runs a text as a script in tmp_path, and returns its exit status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "library.py").write_text(LIBRARY)
    server = ForkServer()

    def run(text: str, **environment: str) -> int:
        script = tmp_path / f"{threading.get_ident()}.py"
        script.write_text(text)
        return server.run(str(script), "a_long_name_of_a_rule", {**os.environ, **environment})

    yield run
    server.end()


def test_a_scripts_end_is_told(run: Callable[..., int], capfd: pytest.CaptureFixture[str]) -> None:
    assert run("import sys; sys.exit(3)") == 3
    assert run("raise SystemExit('in words')") == 1
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)") == -signal.SIGSEGV
    assert run("import no_such_library") == 1
    assert run("import subprocess; subprocess.run(['false'], check=True)") == 1
    # A script's threads end before it does, as in Python.
    late = "import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), open('late', 'w'))).start()"
    assert run(late) == 0 and Path("late").exists()
    said = capfd.readouterr().err
    assert "in words" in said and "No module named 'no_such_library'" in said and "CalledProcessError" in said


def test_after_a_killed_server_the_next_script_gets_a_new_one(run: Callable[..., int]) -> None:
    # Pins: stacks for each job that is left, with a pipe that nobody reads.
    assert run("import os, signal; os.kill(os.getppid(), signal.SIGKILL)") == -signal.SIGKILL
    assert run("import sys; sys.exit(3)") == 3


def test_a_script_whose_imports_start_a_thread_gets_a_new_python(
    run: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
        encoding="utf-8",
    )
    # A fork has one thread, whatever its server had.
    text = """\
import os, signal, sys, threading
import library, threaded
assert threading.active_count() == 2, "a fork, in which the module's thread is missing"
assert sys.argv == [__file__] and sys.flags.utf8_mode and os.getcwd() == os.environ["HERE"]
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert not library.changed
library.changed = True
print("has run")
sys.exit(3)
"""
    for name in ("one", "two"):
        Path(name).mkdir()
        os.chdir(name)
        assert run(text, HERE=os.getcwd()) == 3
        os.chdir("..")
    # The thread lives on in the server.
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)") == -signal.SIGSEGV
    said = capfd.readouterr()
    assert said.out.count("has run") == 2 and "Warning" not in said.err
