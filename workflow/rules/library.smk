# Make the library importable, and read the configuration's files: Snakemake's `configfile:` would run code that stands
# in them (YTE), take the second of two keys, and answer some mistakes with a traceback.

# The included files share one namespace: what this one imports, the others have.
import atexit
import contextlib
import functools
import gc
import inspect
import os
import sys
from pathlib import Path

import snakemake
from packaging.version import Version
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake.utils import update_config

if Version(snakemake.__version__).major > 9 and workflow.is_main_process:
    logger.warning(
        f"kernelsweep was tested with Snakemake 9, and this is {snakemake.__version__}: uv run takes the right one."
    )

# What Snakemake has imported stays until it ends. To look through it for garbage, again and again, takes a sixth of a
# start's time. What it makes then is mostly kept, too, and to parse the library's code makes much.
gc.freeze()
gc.set_threshold(100_000)
# Nor is it looked through once more before the process ends.
atexit.register(gc.freeze)

# The folder of kernelsweep, wherever the user's own repository is.
ROOT = Path(workflow.current_basedir).parents[1]
# Scripts find the library through this, too: Snakemake hands them its own search path.
sys.path.insert(0, str(ROOT / "workflow/scripts"))

from kernelsweep.errors import UserError
from kernelsweep.project.last_words import OURS, LastWords, targets_of
from kernelsweep.study.settings import read_yaml

# Before the configuration's files, of which Snakemake tells.
LAST_WORDS = LastWords(
    lambda: [rule.name for rule in workflow.rules if not rule.has_wildcards() and not rule.output],
    lambda: targets_of(workflow),
    is_quiet=Quietness.RULES in (workflow.output_settings.quiet or ()),
    is_dry=lambda: workflow.dryrun,  # which Snakemake doesn't know yet
)
logger.addFilter(LAST_WORDS)
if workflow.is_main_process:
    atexit.register(LAST_WORDS.say)


def refuse(message):
    """End Snakemake with a message as its last words; a WorkflowError would come with a stack."""
    logger.error(message, extra=OURS)
    sys.exit(1)


def for_users(function):
    """The function, which ends Snakemake by a user's mistake."""

    @functools.wraps(function)
    def called(*arguments, **values):
        try:
            return function(*arguments, **values)
        except UserError as error:
            refuse(str(error))

    return called


def own_or_shipped(name):
    """A configuration file of the user's repository, or kernelsweep's where that has none."""
    return name if os.path.exists(name) else str(ROOT / name)


for file in workflow.configfiles:  # of the command line, which `config` has
    for_users(read_yaml)(Path(file), str(file))

# A repository without config.yaml has the defaults. Where a module has `config:`, that is all its settings.
files = [own_or_shipped("config/metrics.yaml")]
if not workflow.modifier.skip_configfile:
    files = [*filter(os.path.exists, ["config/config.yaml"]), *files]
    update_config(config, workflow.config_settings.overwrite_config)
for file in files:
    settings = for_users(read_yaml)(Path(file), file)
    update_config(settings, config)
    update_config(config, settings)
