"""Snakemake's command line, in a fork of a process that has imported it: workflow_runs.snakemake() runs this file.

The fork is as fresh as a new Python, but for the modules that are imported here: what Snakemake and the project's rules
import at every start. A copy of the project has a library of its own, which its rules find.
"""

# The imports are for their own sake.
# ruff: noqa: F401

import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys

import elftools.elf.elffile
import fontTools.subset
import jinja2
import markdown_it
import matplotlib.figure
import numpy
import pandas
import pydantic
import seaborn.objects
import smart_open
import snakemake.cli
import snakemake.executors.local
import snakemake.report.html_reporter
import snakemake.scheduling.greedy
import snakemake.scheduling.milp
import snakemake.script
import snakemake.storage
import yaml
import yte

import kernelsweep.device.worker.client
import kernelsweep.project.last_words
import kernelsweep.project.targets
import kernelsweep.publish.figure_files
import kernelsweep.publish.index.renew

OF_LIBRARY = [name for name in sys.modules if name.partition(".")[0] in ("kernelsweep", "cuda_emulator")]


def import_library(folder: str) -> None:
    """Have the modules above of a folder's library, in place of this checkout's."""
    for name in OF_LIBRARY:
        del sys.modules[name]
    sys.path.insert(0, f"{folder}/workflow/scripts")
    for name in OF_LIBRARY:
        importlib.import_module(name)


def serve_jobs(told: socket.socket) -> None:
    """Wait to be a process that starts this run's jobs: a fork, too, since its imports take a second."""
    message, files, *_ = socket.recv_fds(told, 1 << 20, 1)
    if files:
        os.setsid()
        os.environ.clear()
        os.environ.update(json.loads(message))
        sys.path.insert(0, os.environ["PYTHONPATH"].partition(os.pathsep)[0])
        sys.argv = ["fork_server", str(files[0])]
        runpy.run_module("kernelsweep.base.fork_server", run_name="__main__")
    os._exit(0)


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """subprocess.Popen, to which such a process is a new one."""

    def __init__(self, command, *arguments, **settings) -> None:  # type: ignore[no-untyped-def]
        if list(command[1:4]) != ["-P", "-m", "kernelsweep.base.fork_server"]:
            super().__init__(command, *arguments, **settings)
            return
        (self.pid, tell), self.returncode = servers.pop(), None
        socket.send_fds(tell, [json.dumps(settings["env"]).encode()], settings["pass_fds"])

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        return super().wait(timeout) if self._child_created else os.waitpid(self.pid, 0)[1]  # type: ignore[attr-defined]


request = json.loads(os.environ.pop("FORKED_SNAKEMAKE"))
os.chdir(request["folder"])  # The library's commands are those of the folder in which it is imported.
if request["library"]:  # before the processes that start jobs, which would each import it, too
    import_library(request["library"])
output = os.open(request["output"], os.O_WRONLY)
for stream in (1, 2):
    os.dup2(output, stream)
os.close(output)
servers = []
for _ in range(2):
    tell, told = socket.socketpair()
    if (server := os.fork()) == 0:
        tell.close()
        serve_jobs(told)
    told.close()
    servers.append((server, tell))
subprocess.Popen = Popen  # type: ignore[misc]
signal.alarm(request["seconds"])
sys.argv = ["snakemake", *request["arguments"]]
snakemake.cli.main()
