"""Run Python scripts in forks of one process, which imports what they import: a start takes 20 ms, not 300 to 1,100.

The process starts with the first script, and ends with the process that started it. It runs no code but imports, and
opens no device. While it has one thread, a fork is as fresh as a new Python. Once an import has started a thread, each
script gets a new Python: a fork would keep the locks that the thread held.

It has a session of its own, so that Ctrl-C doesn't reach the scripts. At its end, they and all that they started are
killed at once: else a script might take a killed compiler's end for an error in a kernel.
"""

from __future__ import annotations

import ast
import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any, NoReturn

from kernelsweep.base.code_hash import names_in
from kernelsweep.base.running import environment, name_this_process

_TASKS = Path("/proc/self/task")
_LONGEST_REQUEST = 1 << 20
_SECONDS_BETWEEN_CALLS = 5.0


def thread_count() -> int:
    """The number of threads, those of libraries included; elsewhere than on Linux, of Python's threads only."""
    return len(os.listdir(_TASKS)) if _TASKS.is_dir() else threading.active_count()


class ForkServer:
    """The process, as its user sees it. It may be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_ended = self._has_run = False
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        atexit.register(self.end)

    def end(self) -> None:
        """End the server, the scripts that still run, and what they started. No script can start any more."""
        with self._lock:
            self._has_ended = True
            if self._server and not self._has_run:  # It only imports.
                self._server.kill()
            self._forget()

    def run(
        self, script: str, name: str, environment: Mapping[str, str], waiting: Callable[[], None] = lambda: None
    ) -> int:
        """Run a Python file as __main__ in this process' folder. Returns its exit status, negative for a signal.

        name         of the fork in lists of processes, of which 15 characters are shown; a new Python keeps its own
        waiting      is called every few seconds

        If the server is killed, so is the script; the next one gets a new server. Raises ConnectionError if end() has
        ended it.
        """
        self._has_run = True
        request = {"script": script, "name": name, "folder": os.getcwd(), "environment": dict(environment)}
        return int(self._asked(request, waiting) or -signal.SIGKILL)

    def prepare(self, scripts: Sequence[Path]) -> None:
        """Import what these of kernelsweep's scripts import while none is to be started, before they are."""
        self._asked({"prepare": list(map(str, scripts))})

    def _asked(self, request: Mapping[str, Any], waiting: Callable[[], None] = lambda: None) -> str:
        """The server's line on a request; "" where it died, and to prepare. `waiting` is called every few seconds."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, self._lock:
                try:
                    socket.send_fds(self._started(), [b"\n"], [theirs.fileno()])
                except BrokenPipeError:  # It was killed.
                    self._forget()
                    socket.send_fds(self._started(), [b"\n"], [theirs.fileno()])
            with suppress(BrokenPipeError, ConnectionResetError), ours.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                if "prepare" in request:
                    return ""
                while not select([ours], [], [], _SECONDS_BETWEEN_CALLS)[0]:
                    waiting()
                return stream.readline()
        return ""

    def _forget(self) -> None:
        """Have the next script start a new server."""
        if self._control and self._server:
            self._control.close()
            self._server.wait()
            self._control = self._server = None

    def _started(self) -> socket.socket:
        if self._has_ended:
            raise ConnectionError("the process that starts jobs has ended")
        if self._control is None:
            self._control, theirs = socket.socketpair()
            # Libraries start no threads then; JE_... is for the allocator in pyarrow, which pandas imports. Bytecode is
            # kept, without which imports take 4 s instead of 1: what a server imports is of packages, not of users.
            variables = {
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
                "JE_ARROW_MALLOC_CONF": "background_thread:false",
                "PYTHONDONTWRITEBYTECODE": "",
            }
            command = [sys.executable, "-P", "-m", "kernelsweep.base.fork_server", str(theirs.fileno())]
            with theirs:
                self._server = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], env=environment() | variables, start_new_session=True
                )
        return self._control


def _serve(control: socket.socket) -> NoReturn:
    """Run each request's script, and answer with its exit status; until the other end is closed."""
    gc.set_threshold(100_000, 20)  # Imports and short jobs leave little garbage to look for.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended, woken = socket.socketpair()
    for end in (ended, woken):
        end.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    running: dict[int, socket.socket] = {}
    later: list[str] = []
    while True:
        ready, _, _ = select([control, ended], [], [], 0 if later else None)
        if not ready:
            name = later.pop(0)
            if thread_count() == 1:
                _import([name])
            continue
        if ended in ready:
            with suppress(BlockingIOError):
                ended.recv(_LONGEST_REQUEST)
        _answer(running)
        if control not in ready:
            continue
        message, [*files], _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os.killpg(0, signal.SIGKILL)
        connection = socket.socket(fileno=files[0])
        with connection.makefile("r", encoding="utf-8") as stream:
            request = json.loads(stream.readline())
        if "prepare" in request:
            later += [name for script in request["prepare"] for name in _imports_of(script)]
            connection.close()
            continue
        if thread_count() == 1:
            _import([*_imports_of(request["script"]), "snakemake.io"])  # of which a job's files are
        # An import may have started a thread.
        if thread_count() == 1:
            pid = _forked(request, (control, ended, woken, connection, *running.values()))
        else:
            pid = _started(**request)
        running[pid] = connection


def _answer(running: dict[int, socket.socket]) -> None:
    """Tell the exit statuses of the scripts that have ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as connection, suppress(BrokenPipeError):
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _imports_of(script: str) -> list[str]:
    """What a script imports at its top, from modules also the names that may be modules."""
    statements = ast.parse(Path(script).read_bytes()).body
    return [name for one in statements if isinstance(one, ast.Import | ast.ImportFrom) for name in names_in(one)]


def _import(names: Sequence[str]) -> None:
    """Import modules. What fails, fails again in the script, which then says so."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


def _forked(request: Mapping[str, Any], sockets: Sequence[socket.socket]) -> int:
    """The process id of a fork that runs a script. The fork closes the sockets."""
    gc.freeze()  # Else a fork's garbage collection would copy all of this process' memory.
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        for end in sockets:
            end.close()
        _run(**request)
    return pid


def _started(script: str, name: str, folder: str, environment: Mapping[str, str]) -> int:
    """The process id of a new Python that runs a script, with the settings of a fork."""
    process = subprocess.Popen([sys.executable, "-P", "-X", "utf8", script], cwd=folder, env=environment)
    process.returncode = 0  # Else Popen would wait for it, and _answer() would miss its status.
    return process.pid


def _run(script: str, name: str, folder: str, environment: dict[str, str]) -> NoReturn:
    """Run a script in this fork as Python would, and end."""
    status: Any = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        name_this_process(name)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
        tempfile.tempdir = None
        sys.argv = [script]
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code
        if status is not None and not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        sys.stderr.write("\r\033[K" * sys.stderr.isatty())  # the line of progress
        traceback.print_exc()
    finally:
        with suppress(Exception):
            threading._shutdown()  # type: ignore[attr-defined]  # waits for the script's threads
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status or 0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
