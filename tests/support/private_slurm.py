"""A Slurm of a test's own: nodes on this machine, each with two pretend GPUs, which are links to /dev/null.

It lies in a folder of /tmp that is deleted afterwards, and its ports are free ones of the loopback address. So it needs
no root, and leaves alone any Slurm or munge that runs here.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

# Programs of Debian's packages slurm-wlm, munge and util-linux. Daemons may be in folders that only root's PATH has.
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "srun", "squeue", "scontrol", "sinfo", "setpriv")
SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])

PATIENCE_SECONDS = 30

# Nothing is accounted, confined or bound, each of which would need root or another daemon. A node has more processors
# and memory than the machine may have, so that jobs wait for GPUs only.
SLURM_CONF = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SlurmdTimeout=10
GresTypes=gpu
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE_CONF = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=16 RealMemory=1000000 Gres=gpu:2\n"


def missing_programs() -> str | None:
    """A message that names the missing programs, or None if none is missing."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]
    return f"{', '.join(missing)} not found (Debian's packages slurm-wlm and munge)" if missing else None


@contextlib.contextmanager
def private_slurm(nodes: int = 1) -> Iterator[dict[str, str]]:
    """A Slurm whose nodes, node1 and so on, are ready for jobs; yields the environment to use it from.

    Ends it, and all of its jobs.
    """
    with contextlib.ExitStack() as stack:
        # Sockets' paths may have 107 letters, which a folder of pytest's can be too long for.
        place = tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(place))
        folder.chmod(0o755)  # munged wants its socket where everyone may come.
        environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf", "PATH": f"{folder}/bin:{SEARCHED}"}
        names = [f"node{number}" for number in range(1, nodes + 1)]
        _configure(folder, names)
        munged = ["munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket"]
        munged += [f"--{file}={folder}/munge/{file}" for file in ("pid-file", "seed-file", "log-file")]
        stack.enter_context(_running(munged, folder, environment))
        _wait_until(lambda: (folder / "munge.socket").exists(), folder)
        stack.enter_context(_running(["slurmctld", "-D", "-c"], folder, environment))
        for name in names:
            stack.enter_context(_running(["slurmd", "-D", "-N", name], folder, environment))
        _wait_until(lambda: _answer(["sinfo", "-h", "-o", "%t %D"], environment) == f"idle {nodes}", folder)
        try:
            yield environment
        finally:
            _answer(["scancel", "--full", f"--user={getpass.getuser()}"], environment)
            _wait_until(lambda: not _answer(["squeue", "-h"], environment), folder)


def kill_node(name: str, environment: Mapping[str, str]) -> None:
    """Kill a node's daemon and all processes of its jobs, as when its power is cut: none of them can tell."""
    daemon = Path(environment["SLURM_CONF"]).with_name(f"{name}.pid")
    killed = [psutil.Process(int(daemon.read_text(encoding="utf-8")))]
    jobs = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            variables = process.environ()
            if variables.get("SLURMD_NODENAME") == name and variables["PATH"] == environment["PATH"]:
                jobs.append(process)
                killed += [parent for parent in process.parents() if parent.name() == "slurmstepd"]
    for process in (*killed, *jobs):
        with contextlib.suppress(psutil.Error):
            process.kill()


def _configure(folder: Path, names: Sequence[str]) -> None:
    """Write the configuration, munge's key and the pretend GPUs into the folder."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(len(names) + 1)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
    host, user = socket.gethostname().partition(".")[0], getpass.getuser()
    conf = SLURM_CONF.format(host=host, user=user, folder=folder, port=ports[0])
    conf += "".join(
        NODE_CONF.format(name=name, host=host, port=port) for name, port in zip(names, ports[1:], strict=True)
    )
    (folder / "slurm.conf").write_text(conf)
    for number in (0, 1):
        (folder / f"gpu{number}").symlink_to("/dev/null")
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-1]\n")
    for name in ("spool", "munge", "bin"):
        (folder / name).mkdir(0o755)
    # Snakemake's plugin takes SLURM_CONF, as all of Slurm's variables, away from the srun within a job.
    srun = folder / "bin/srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun", path=SEARCHED)} "$@"\n')
    srun.chmod(0o755)
    (folder / "key").touch(0o600)
    (folder / "key").write_bytes(secrets.token_bytes(128))


@contextlib.contextmanager
def _running(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """A daemon, which ends with this process, however that ends."""
    tied = ["setpriv", "--pdeathsig", "TERM", *command]
    with (folder / f"{command[0]}.out").open("ab") as output:
        daemon = subprocess.Popen(tied, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
    try:
        yield
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE_SECONDS)


def _wait_until(true: Callable[[], bool], folder: Path) -> None:
    """Wait. Raises RuntimeError where it takes too long, with the daemons' last words."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError("\n".join(path.read_text(errors="replace")[-500:] for path in folder.glob("*.out")))
        time.sleep(0.05)


def _answer(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The output of one of Slurm's commands."""
    asked = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE_SECONDS)
    return asked.stdout.strip()
