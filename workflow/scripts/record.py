"""Keep a platform's results as a recording, for readers without that hardware.

    uv run python workflow/scripts/record.py results/nvidia-h200 [NAME]

writes resources/recordings/NAME/ (by default the platform's name), from which the platform recording/NAME is drawn.
"""

import argparse
import sys
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.recording import record

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("results", type=Path, help="a platform's folder in results/")
parser.add_argument("name", nargs="?", help="the recording's name")
arguments = parser.parse_args()
root = Path(__file__).resolve().parent.parent.parent
try:
    folder = root / "resources/recordings" / (arguments.name or arguments.results.resolve().name)
    size = record(arguments.results, folder)
except UserError as error:
    sys.exit(str(error))
print(f"{folder.relative_to(root)}: {size / 1e6:.2f} MB")
