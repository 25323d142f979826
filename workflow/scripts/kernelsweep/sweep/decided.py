"""On which points pairs have decided, and which points tell how far processes lie apart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from operator import itemgetter
from statistics import median

from kernelsweep.device.pairs import UNDECIDED, Pairs, Ratio, mean_ratio, pairs_of, verdict
from kernelsweep.scatter import Scatter
from kernelsweep.study.point import Point
from kernelsweep.study.problem.drawn import is_timed
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.sweep.visits import Visits

# All processes visit so many points, one a size, or two processes where these take more, in microseconds. Where they
# take less, processes share the size's others.
_MOST_FIRST = 16
_SHORT_US = 100.0


def first_points(visits: Visits) -> frozenset[Point]:
    """One of the points that are visited of each size, at random; of at most _MOST_FIRST sizes.

    All processes visit them, and for a verdict first: they tell how far processes lie apart, whatever comes out.
    """
    points = [point for point in visits.made if is_timed(point)]
    random.Random(str(visits.task.protocol.seed)).shuffle(points)
    problem = problem_of(visits.task.problem)
    of_sizes = sorted({problem.size(point): point for point in points}.items(), key=itemgetter(0))
    count = min(len(of_sizes), _MOST_FIRST)
    return frozenset(of_sizes[number * len(of_sizes) // count][1] for number in range(count))


def is_short(visits: Visits, point: Point) -> bool:
    """Whether a point takes little time: others differ little between processes, and their data are large."""
    times = [median(timing.samples) for outcome in visits.made[point].values() for timing in outcome.visits]
    return bool(times) and min(times) < _SHORT_US


def decided(
    visits: Visits, number: int, margin: float, scatter: Scatter | None, first: Iterable[Point], by_size: bool = False
) -> set[Point]:
    """The points that need no pairs in the visit of this number: those before have decided on their edit.

    first    first_points(), which tell how far processes lie apart: they need none where they take long, after two
    by_size  whether all points of a size are decided once the size's mean is
    """
    variant_of = {visit.point: visit.variant for missing in visits.missing for visit in missing}
    problem = problem_of(visits.task.problem)
    sizes: dict[float, dict[Point, tuple[Pairs, Ratio]]] = {}
    for point in visits.made:
        outcome = visits.so_far(point, number)
        if outcome and (pairs := pairs_of(outcome)) and (ratio := pairs.ratio(scatter)):
            sizes.setdefault(problem.size(point), {})[point] = pairs, ratio
    found = set[Point]()
    for of_size in sizes.values():
        of_codes = [(ratio, variant_of.get(point, ""), pairs.processes) for point, (pairs, ratio) in of_size.items()]
        if by_size and verdict(mean_ratio(of_codes), margin) != UNDECIDED:
            found |= of_size.keys()
        found |= {point for point, (_, ratio) in of_size.items() if verdict(ratio.interval, margin) != UNDECIDED}
    return found.difference(first) | {point for point in first if number > 1 and not is_short(visits, point)}
