# SPDX-License-Identifier: Apache-2.0
"""The time of 10,000 points of ResNet-50, and how a sweep scales with its workers.

    python3 growth.py [POINTS [WORKERS...]]      default: 10000 2

POINTS of the 10,000, drawn at random with a fixed seed, for each number of workers. On a busy
machine look at the CPU time: the workers' CPU time divided by their number is the time on a
machine with as many idle cores.
"""
import random
import resource
import sys
import time

import sluice
from sluice.grid import points_of

GRID = {"networks": "resnet50", "hardware": "soma-edge",
        "buffer_bytes": [(i << 10) * 64 for i in range(4, 204, 2)],
        "dram_bytes_per_cycle": [i / 2 for i in range(2, 102)]}


def cpu(whose):
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def main():
    count = int(sys.argv[1]) if sys.argv[1:] else 10000
    begin, own = time.monotonic(), cpu(resource.RUSAGE_SELF)
    points = points_of(GRID)
    if count < len(points):
        points = random.Random(1).sample(points, count)
    print(f"{len(points)} of 10000 points; the grid took {cpu(resource.RUSAGE_SELF) - own:.2f} s "
          "of CPU")
    for workers in [int(text) for text in sys.argv[2:]] or [2]:
        begin = time.monotonic()
        own, theirs = cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN)
        found = sluice.sweep(points, workers=workers)
        own, theirs = cpu(resource.RUSAGE_SELF) - own, cpu(resource.RUSAGE_CHILDREN) - theirs
        inside = sum(row["plan_seconds"] for row in found.rows)
        print(f"{workers} workers: {time.monotonic() - begin:.1f} s; CPU {theirs:.1f} s of the "
              f"workers ({inside:.1f} s of it in plans), {own:.2f} s of the caller; "
              f"{theirs / workers + own:.1f} s on {workers} idle cores")


if __name__ == "__main__":
    main()
