"""Keep a platform's results as a recording, for readers without that hardware.

    uv run python workflow/scripts/record.py results/nvidia-h200 [NAME]

writes resources/recordings/NAME/ (by default the platform's name), from which the platform recording/NAME is drawn, and
checks it. docs/recordings.md describes recordings.
"""

import argparse
import getpass
import socket
import sys
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.publish.share.recording import check_recording, record

# Names that many machines and users have, and names so short that they are found in other words.
COMMON_NAMES, SHORTEST_NAME = ("localhost", "root", "user", "ubuntu"), 4


def names_of_this_machine() -> list[str]:
    """The host's and the user's name, unless they are too common to identify anyone."""
    names = [socket.gethostname(), socket.gethostname().partition(".")[0], getpass.getuser()]
    return [name for name in names if len(name) >= SHORTEST_NAME and name not in COMMON_NAMES]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("results", type=Path, help="a platform's folder in results/")
parser.add_argument("name", nargs="?", help="the recording's name")
arguments = parser.parse_args()
root = Path(__file__).resolve().parent.parent.parent
try:
    folder = root / "resources/recordings" / (arguments.name or arguments.results.resolve().name)
    size = record(arguments.results, folder)
    check_recording(folder, names_of_this_machine())
except UserError as error:
    sys.exit(str(error))
print(f"{folder.relative_to(root)}: {size / 1e6:.2f} MB")
