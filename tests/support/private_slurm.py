"""A Slurm of one's own for as long as a command runs: one node on this machine, with two pretend GPUs.

    python tests/support/private_slurm.py COMMAND ...

Everything lies in a folder in /tmp that is deleted afterwards: configuration, state, and munge's key and socket. Ports
are free ones of the loopback address. So it needs no root, and leaves alone any Slurm or munge that runs here. The
command, and what it starts, is told of it by SLURM_CONF.

The pretend GPUs are links to /dev/null, since Slurm wants devices. They show which jobs wait for which, and what each
is given; no job could use one.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

# The programs needed from Debian's packages slurm-wlm, munge and util-linux. The daemons may be in folders that only
# root's PATH has.
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "srun", "squeue", "scontrol", "sinfo", "setpriv")
SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])

GPUS = 2
NODE = "pretended"

START_SECONDS = 30
STOP_SECONDS = 10

# Nothing is accounted, confined or bound, each of which would need root or another daemon. The node has more processors
# and memory than the machine may have, so that jobs wait for GPUs only.
SLURM_CONF = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={slurmctld_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
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
GresTypes=gpu
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd_port} CPUs=16 RealMemory=1000000 Gres=gpu:{gpus}
PartitionName=all Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs() -> str | None:
    """A message that names the missing programs, or None if none is missing."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]
    return f"{', '.join(missing)} not found (Debian's packages slurm-wlm and munge)" if missing else None


@contextlib.contextmanager
def private_slurm() -> Iterator[dict[str, str]]:
    """A Slurm whose node is ready for jobs; yields the environment to use it from. Ends it, and all of its jobs.

    Raises RuntimeError where it doesn't start, with the daemons' last words.
    """
    # Sockets' paths may have 107 letters, which a folder of pytest's can be too long for.
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    environment = {
        **os.environ,
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": os.pathsep.join([str(folder / "bin"), SEARCHED]),
    }
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        _configure(folder)
        folder.chmod(0o755)  # munged wants its socket where everyone may come.
        for command in _commands(folder):
            daemons.append(_started(command, folder, environment))
        _wait_until_ready(daemons, folder, environment)
        yield environment
    finally:
        _stop(daemons, environment)
        shutil.rmtree(folder, ignore_errors=True)


def _configure(folder: Path) -> None:
    """Write the configuration, munge's key and the pretend GPUs into the folder."""
    ports = _free_ports(2)
    (folder / "slurm.conf").write_text(
        SLURM_CONF.format(
            host=socket.gethostname().partition(".")[0],
            user=getpass.getuser(),
            folder=folder,
            node=NODE,
            gpus=GPUS,
            slurmctld_port=ports[0],
            slurmd_port=ports[1],
        )
    )
    for number in range(GPUS):
        (folder / f"gpu{number}").symlink_to("/dev/null")
    (folder / "gres.conf").write_text(f"NodeName={NODE} Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n")
    for name in ("state", "spool", "munge", "bin"):
        (folder / name).mkdir(0o755)
    # Snakemake's plugin takes SLURM_CONF, as all of Slurm's variables, away from the srun within a job.
    srun = folder / "bin/srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun", path=SEARCHED)} "$@"\n')
    srun.chmod(0o755)
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(secrets.token_bytes(128))


def _free_ports(count: int) -> list[int]:
    """Unused ports of the loopback address."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _commands(folder: Path) -> list[list[str]]:
    """The daemons' command lines, in the order of their start; each stays in the foreground, to be ended by its id."""
    conf = str(folder / "slurm.conf")
    return [
        [
            "munged",
            "--foreground",
            "--force",  # A sticky /tmp above the socket is no danger here.
            f"--socket={folder}/munge.socket",
            f"--key-file={folder}/munge.key",
            f"--pid-file={folder}/munge/pid",
            f"--seed-file={folder}/munge/seed",
            f"--log-file={folder}/munged.log",
        ],
        ["slurmctld", "-D", "-c", "-f", conf],
        ["slurmd", "-D", "-N", NODE, "-f", conf],
    ]


def _started(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A daemon, which ends with this process, however that ends."""
    tied = ["setpriv", "--pdeathsig", "TERM", *command]
    with (folder / f"{command[0]}.out").open("wb") as output:
        process = subprocess.Popen(tied, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
    if command[0] == "munged":
        deadline = time.monotonic() + START_SECONDS
        while not (folder / "munge.socket").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    return process


def _wait_until_ready(daemons: Sequence[subprocess.Popen[bytes]], folder: Path, environment: Mapping[str, str]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and all(daemon.poll() is None for daemon in daemons):
        if _answer(["sinfo", "-h", "-o", "%t"], environment) == "idle":
            return
        time.sleep(0.1)
    said = [
        f"{path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-5:])
        for path in sorted([*folder.glob("*.log"), *folder.glob("*.out")])
    ]
    raise RuntimeError("Slurm doesn't start.\n" + "\n".join(said))


def _answer(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The output of one of Slurm's commands, or an empty string if Slurm doesn't answer."""
    try:
        asked = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return asked.stdout.strip()


def _stop(daemons: Sequence[subprocess.Popen[bytes]], environment: Mapping[str, str]) -> None:
    """End all jobs, then the daemons, the last one started first."""
    if len(daemons) > 1:
        _answer(["scancel", "--full", f"--user={getpass.getuser()}"], environment)
        deadline = time.monotonic() + STOP_SECONDS
        while _answer(["squeue", "-h"], environment) and time.monotonic() < deadline:
            time.sleep(0.1)
    for daemon in reversed(daemons):
        daemon.terminate()
        try:
            daemon.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


if __name__ == "__main__":
    if missing := missing_programs():
        sys.exit(missing)
    with private_slurm() as told:
        sys.exit(subprocess.run(sys.argv[1:] or ["bash"], env=told).returncode)
