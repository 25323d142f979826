"""The problems by the names that studies give them."""

from __future__ import annotations

from collections.abc import Mapping

from kernelsweep.problems.exchange import EXCHANGE
from kernelsweep.problems.problem import Axis, Problem
from kernelsweep.problems.reduction import REDUCTION

PROBLEMS: Mapping[str, Problem] = {problem.name: problem for problem in (REDUCTION, EXCHANGE)}

# Every axis that some problem has, by name.
ALL_AXES: Mapping[str, Axis] = {name: axis for problem in PROBLEMS.values() for name, axis in problem.axes.items()}
