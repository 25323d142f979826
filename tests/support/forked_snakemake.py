"""Snakemake's command line, in a fork of a process that has imported it: workflow_runs.snakemake() runs this file.

The fork is as fresh as a new Python, but for the modules that are imported here, none of which is the project's. They
are what Snakemake and the project's rules import at every start.
"""

# The imports are for their own sake.
# ruff: noqa: F401

import json
import os
import signal
import sys

import elftools.elf.elffile
import numpy
import pydantic
import snakemake.cli
import snakemake.executors.local
import snakemake.report.html_reporter
import snakemake.scheduling.greedy
import snakemake.scheduling.milp
import snakemake.script
import snakemake.storage
import yaml
import yte

request = json.loads(os.environ.pop("FORKED_SNAKEMAKE"))
# The library is the copy's, whose rules find it.
for name in [name for name in sys.modules if name.partition(".")[0] == "kernelsweep"]:
    del sys.modules[name]
os.chdir(request["folder"])
output = os.open(request["output"], os.O_WRONLY)
for stream in (1, 2):
    os.dup2(output, stream)
os.close(output)
signal.alarm(request["seconds"])
sys.argv = ["snakemake", *request["arguments"]]
snakemake.cli.main()
