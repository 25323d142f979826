"""The package of an installation, which has kernelsweep's folders as they are in the repository below home/."""

from pathlib import Path

__path__ = [str(Path(__file__).parent / "home/workflow/scripts/kernelsweep")]

from kernelsweep.offered import NAMES as __all__  # noqa: F401
from kernelsweep.offered import __dir__, __doc__, __getattr__  # noqa: F401
