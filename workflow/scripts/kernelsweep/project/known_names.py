"""The names that a study's file may use because a later stage than the sweep knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kernelsweep.baselines.host import BASELINES
from kernelsweep.baselines.libraries import REDUCTIONS
from kernelsweep.judge.claims.relations import RELATIONS

# By the kind that a schema asks for as `x-known: KIND`.
KNOWN: Mapping[str, Iterable[str]] = {
    "baselines": BASELINES,
    "rivals": REDUCTIONS,
    "relations": RELATIONS,
}
