#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What streams of meshes take against what the mesh model promises.

  mesh_table.py SLUICE             a row for each network, batch, mesh and objective: cycles and
                                   energy of `schedule` over those of mesh_promises.csv, the CPU
                                   seconds and bytes of planning
  mesh_table.py SLUICE --promises  the rows of mesh_promises.csv, as this SLUICE promises them with
                                   `segments`; the file is what commit 07ddbf04 said
  --only WORD                      rows whose name has WORD in it, as in alexnet-64-16x16-energy;
                                   may be repeated: rows with all of the words
"""
import argparse
import csv
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile

NETWORKS = ["mlp_l", "lstm_gnmt", "alexnet", "mobilenet_v1", "googlenet", "resnet50", "vgg16"]
BATCHES = [1, 64]
MESHES = [4, 8, 16]
OBJECTIVES = ["energy", "latency"]
HERE = pathlib.Path(__file__).resolve().parent
PRESETS = HERE.parents[1] / "src" / "presets"
COLUMNS = ["row", "cycles", "energy_pj"]


def machine(nodes, folder):
    """kapla-4x4 as it is; of kapla-16x16, nodes x nodes with their part of the leakage."""
    if nodes == 4:
        return "kapla-4x4"
    lines = (PRESETS / "kapla-16x16.json").read_text(encoding="utf-8").splitlines()
    preset = json.loads("\n".join(line for line in lines if not line.startswith("//")))
    preset["leakage_pj_per_cycle"] *= nodes * nodes / (preset["node_cols"] * preset["node_rows"])
    preset.update(name=f"kapla-{nodes}x{nodes}", node_cols=nodes, node_rows=nodes)
    path = folder / f"{nodes}.json"
    path.write_text(json.dumps(preset), encoding="utf-8")
    return str(path)


def run(words):
    """What the tool says, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None, 0.0
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime \
        - before.ru_stime


def rows(only):
    for network in NETWORKS:
        for batch in BATCHES:
            for nodes in MESHES:
                for objective in OBJECTIVES:
                    name = f"{network}-{batch}-{nodes}x{nodes}-{objective}"
                    if all(word in name for word in only):
                        yield name, network, batch, nodes, objective


def promises(sluice, folder, only):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for name, network, batch, nodes, objective in rows(only):
        graph = graph_of(sluice, folder, network, batch)
        said, _ = run([sluice, "segments", graph, "--hw", machine(nodes, folder), "--objective",
                       objective, "--json"])
        if said is None:
            sys.exit(f"{name}: no promise")
        out.writerow([name, said["latency_cycles"], said["energy_pj"]])


def graph_of(sluice, folder, network, batch):
    path = folder / f"{network}-{batch}.slg"
    if not path.exists():
        subprocess.run([sluice, "zoo", network, "--batch", str(batch), "-o", str(path)],
                       stdout=subprocess.DEVNULL, check=True)
    return str(path)


def table(sluice, folder, only):
    with open(HERE / "mesh_promises.csv", encoding="utf-8", newline="") as file:
        promised = {row["row"]: row for row in csv.DictReader(file)}
    print(f"{'row':32} {'cycles':>12} {'/promise':>8} {'energy uJ':>12} {'/promise':>8} "
          f"{'CPU s':>7} {'MiB':>6}")
    ratios = []
    for name, network, batch, nodes, objective in rows(only):
        graph = graph_of(sluice, folder, network, batch)
        plan, cpu = run([sluice, "schedule", graph, "--hw", machine(nodes, folder), "--objective",
                         objective, "--json"])
        if plan is None:
            print(f"{name:32} failed")
            continue
        over = [plan[key] / float(promised[name][of])
                for key, of in (("latency_cycles", "cycles"), ("energy_pj", "energy_pj"))]
        ratios.append(over)
        print(f"{name:32} {plan['latency_cycles']:12} {over[0]:8.3f} "
              f"{plan['energy_pj'] * 1e-6:12.1f} {over[1]:8.3f} {cpu:7.2f} "
              f"{plan['peak_memory_bytes'] / (1 << 20):6.1f}", flush=True)
    for at, what in enumerate(("cycles", "energy")):
        of = [ratio[at] for ratio in ratios]
        if of:
            mean = math.exp(sum(map(math.log, of)) / len(of))
            print(f"{what} over promise: mean {mean:.3f}, worst {max(of):.3f}, at most 1.05 in "
                  f"{sum(x <= 1.05 for x in of)} of {len(of)} rows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("--promises", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (promises if given.promises else table)(given.sluice, pathlib.Path(folder), given.only)


if __name__ == "__main__":
    main()
