# Make the library importable, and check the configuration's files before Snakemake reads them: it takes the second of
# two keys, and answers some mistakes with a traceback.

import functools
import gc
import sys
from pathlib import Path

from snakemake.logging import logger

# What Snakemake has imported stays until it ends. To look through it for garbage, again and again, takes a sixth of a
# start's time.
gc.freeze()

ROOT = Path(workflow.basedir)
# Scripts find the library through this, too: Snakemake hands them its own search path.
sys.path.insert(0, str(ROOT / "workflow/scripts"))

from kernelsweep.errors import UserError
from kernelsweep.sweep.yaml_files import read_yaml


def refuse(message):
    """End Snakemake with a message as its last words; a WorkflowError would come with a stack."""
    logger.error(message)
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


for file in ("config/metrics.yaml", "config/config.yaml", *workflow.configfiles):
    for_users(read_yaml)(Path(file), str(file))
