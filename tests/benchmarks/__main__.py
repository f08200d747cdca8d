"""All benchmarks, one after the other: `python -m tests.benchmarks [NAME …]`, or `make bench`.

Each is a module of its own with options of its own; see its `--help`.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

BENCHMARKS: Final = ("costs", "signatures", "retrieval", "walls")


def main(names: list[str]) -> int:
    """0 when all that were named ran to their end."""
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or BENCHMARKS:
        print(f"\n=== {name}", flush=True)
        failed |= subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
