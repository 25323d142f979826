"""Start a study of your own in the folder that this is called in.

    uv run --project ../kernelsweep python ../kernelsweep/workflow/scripts/new_study.py NAME

writes a small study that runs: its YAML file, a kernel, and a problem.py. Replace them by yours; docs/your-kernel.md
explains each file.
"""

import os
import re
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]

if len(sys.argv) != 2 or not re.fullmatch("[a-z][a-z0-9_]*", sys.argv[1]):
    sys.exit("usage: new_study.py NAME, in lower-case letters, digits and _")
name = sys.argv[1]
files = {
    Path(f"config/studies/{name}.yaml"): "study.yaml",
    Path(f"kernels/{name}/{name}.cu"): "kernel.cu",
    Path(f"kernels/{name}/problem.py"): "problem.py",
}
for path in files:
    if path.exists():
        sys.exit(f"{path} exists already. Choose another name, or move it away.")
for path, template in files.items():
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (HOME / "examples/new-study" / template).read_text(encoding="utf-8")
    schemas = os.path.relpath(HOME / "workflow/schemas", path.parent)
    path.write_text(text.replace("NAME", name).replace("SCHEMAS", schemas), encoding="utf-8")
print(f"Written: {', '.join(map(str, files))}. Run it: snakemake -s {HOME / 'Snakefile'} --cores 1 {name}")
