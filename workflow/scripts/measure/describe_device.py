"""Describe the device of a live platform: what results are read against, and how they came about."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.logs import logged
from kernelsweep.platforms.choose import check_pycuda, gpus_of
from kernelsweep.platforms.emulator import MULTIPROCESSORS
from kernelsweep.platforms.names import EMULATOR

with logged(snakemake.log[0]):
    platform = snakemake.wildcards.platform
    if platform == EMULATOR:
        device = {
            "kind": "emulator",
            "name": "emulator",
            "multiprocessors": MULTIPROCESSORS,
            "peak_bandwidth_gbs": None,
            "provenance": "checked on the emulator, a CPU, whose times mean nothing and are not shown",
        }
    else:
        gpu = gpus_of(platform)[0]
        check_pycuda(gpu)
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu.uuid
        # It starts CUDA, which sees that GPU alone.
        from kernelsweep.platforms.gpu import describe_device

        # Of no single GPU, but of the model: a UUID here would measure all again whenever another one comes first.
        device = describe_device() | {"driver": gpu.driver}
        device["provenance"] = f"measured on {device['name']}, driver {device['driver']}"
    Path(snakemake.output[0]).write_text(
        json.dumps({"platform": platform, **device}, indent=1) + "\n", encoding="utf-8"
    )
