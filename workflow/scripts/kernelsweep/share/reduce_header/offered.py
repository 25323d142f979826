"""The kernels that a header can offer, and the architecture that they need. The rules import it, so without pandas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kernelsweep.sweep.expressions import Expression
from kernelsweep.sweep.kernels.launch_plans import CLUSTER_SIZE
from kernelsweep.sweep.kernels.source import KernelSource

# The part that is the same in every header.
HEADER_TEMPLATE = Path(__file__).with_name("template.cuh")

# The launch plans with one launch and one resulting value, each with the number that its grid size is a multiple of.
ONE_VALUE_PLANS: Mapping[str, int] = {"single_launch": 1, "single_launch_of_clusters": CLUSTER_SIZE}


def needed_architecture(kernel: KernelSource) -> int:
    """The smallest architecture that a kernel runs on, such as 90; 0 for any."""
    return int(re.sub(r"\D", "", kernel.smallest_architecture or "") or 0)


def is_offered(kernel: KernelSource) -> bool:
    """Whether a header can offer a kernel: one launch, one value, and shared memory independent of the array."""
    return (
        kernel.plan in ONE_VALUE_PLANS
        and not kernel.undefined_behaviour
        and kernel.input_is_const
        and not Expression(kernel.shared_elements).names & {"array_size", "grid_size"}
    )
