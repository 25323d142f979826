# What is changed of Snakemake's inside, each only where it has the form that is expected: of another release, Snakemake's
# own way stays, which is slower. A test asserts that each takes effect with the release that is installed.

import importlib
import inspect
import os
import sys

import snakemake
from packaging.version import Version
from snakemake.logging import logger

if Version(snakemake.__version__).major != 9:
    sys.exit(
        f"kernelsweep needs Snakemake 9, and this is Snakemake {snakemake.__version__}: uv run takes the right one."
    )

# What was changed, as module:class.method.
PATCHED = []


def patch(owner, name, parameters, replacement, uses=()):
    """Replace a method of Snakemake's by a function of `replacement`, which is given the method.

    owner       its class, as module:class
    parameters  the names that it has to have; None for a property
    uses        names of the class that `replacement` needs: methods, or what __init__ sets

    Where one of them is missing, a line in the debug log says so.
    """
    package, _, class_name = owner.partition(":")
    try:
        found = getattr(importlib.import_module(package), class_name)
        method = inspect.getattr_static(found, name)
        has_form = isinstance(method, property) if parameters is None else _parameters(method) == parameters
        has_form &= all(hasattr(found, one) or one in found.__init__.__code__.co_names for one in uses)
    except (ImportError, AttributeError, TypeError, ValueError):
        has_form = False
    if not has_form or os.environ.get("KERNELSWEEP_PATCHES") == "none":
        logger.debug(f"Snakemake's {owner}.{name} has another form than expected, and is left as it is.")
        return
    setattr(found, name, replacement(method))
    PATCHED.append(f"{owner}.{name}")


def _parameters(method):
    return list(inspect.signature(method).parameters)
