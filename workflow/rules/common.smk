# Code that the rules share: functions from a job's wildcards to its files, parameters and resources.
#
# `localrule: True`: on a cluster, too, little work runs where Snakemake does.

from kernelsweep.home import EMULATOR_HEADERS, of_home
from kernelsweep.judge.comparison.which_files import PREVIOUS
from kernelsweep.device import names
from kernelsweep.device.kinds import kind_of
from kernelsweep.project import inputs, plan, resources, targets
from kernelsweep.project.files import RESULTS, log, path, scope_of, with_scope
from kernelsweep.project.resources import FIRST, LAST
from kernelsweep.study.kernels.units import EMULATOR


wildcard_constraints:
    platform=names.ANY,
    scope=rf"({names.ANY})(/studies/[^/]+)?",
    study=r"[^/]+",
    kernel=r"[^/]+",
    target=r"[^/]+",
    chunk=r"[1-9][0-9]*",
    chunks=r"[1-9][0-9]*",


class PerJob:
    """The functions of a module as functions of a job's wildcards: a rule says `kernel=inputs.kernel_file`.

    They get the project, and those of the job's wildcards that they have parameters for. Where the wildcards are a platform
    and maybe a study, they can ask for their scope, and the other way round; `cores` are Snakemake's, and `decides` says whether this run is for a verdict alone. A rule can give
    further parameters: `inputs(file="samples").of_kernels`.
    """

    def __init__(self, module, of_files=lambda found: found, **given):
        self._module, self._of_files, self._given = module, of_files, given

    def __call__(self, **given):
        return PerJob(self._module, self._of_files, **given)

    def __getattr__(self, name):
        function = getattr(self._module, name)
        signature = inspect.signature(function)

        # A start asks twice: whether a job is up to date (reruns.smk), and for its files and parameters.
        @functools.cache
        def answer(wildcards):
            known = {"cores": CORES, "decides": is_for_verdict()} | with_scope(dict(wildcards) | self._given)
            chosen = {name: known[name] for name in signature.parameters if name in known}
            # By position: a cache would keep what is given by name once more.
            called = signature.bind(PROJECT, **chosen)
            return self._of_files(for_users(function)(*called.args, **called.kwargs))

        return lambda wildcards: answer(tuple(wildcards.items()))


def by_code(found):
    """Files of the user's code as inputs. Their times are no reason to run the job: their code is (reruns.smk)."""
    return ancient(found) if isinstance(found, str) else [ancient(file) for file in found]


code = PerJob(inputs, by_code)
inputs, plan, resources, targets = map(PerJob, (inputs, plan, resources, targets))


def is_for_verdict():
    """Whether this run is for a verdict alone. It makes no more visits than decide; another target's makes the others."""
    return bool(PROJECT.grading) or targets_of(workflow) == ["compare"] and config["compare"]["before"] == PREVIOUS


# What jobs at a platform's device ask a cluster for.
RESOURCES = {"gpu"}.union(*(model.resources for model in PROJECT.config.gpu_models.values()))
AT_THE_DEVICE = {name: resources(name=name).resource for name in sorted(RESOURCES)}
