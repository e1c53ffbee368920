#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every network of the zoo and every TensorFlow Lite model of a folder on machines.

Each graph is planned, the plan is judged and then timed instruction by instruction. Graphs
of few enough MACs are also executed, host calls included, and their bytes compared with an
untiled run. Of larger prompts a few tokens in two blocks are executed; what is so large that
its plan takes hours on a small machine is planned in two blocks too, and named so. Other
networks above the limit are timed alone.

Input    --tool, the program sluice; --models, a folder with .tflite files; --keep, a folder
         with one JSON file per finished row, so that a run that was ended goes on
Output   the tables as Markdown on stdout; with --guide they replace those of the file
Exit     1 if a plan is missing, refused, not timed as predicted, or computes other bytes
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MACHINES = ["gemmini-16x16", "vta-1x16x16", "ethos-u55-like", "ethos-u65-like"]
HUGE = [("gpt2_xl_prefill", "vta-1x16x16")]
LESS = "16 tokens, 2 blocks"
BEGIN, END = "<!-- tables begin -->", "<!-- tables end -->"


def ask(tool, *arguments):
    """The tool's JSON, or what it says on stderr as {"error": ...}."""
    run = subprocess.run([tool, *map(str, arguments), "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        return {"error": (run.stderr.strip() or run.stdout.strip()).splitlines()[-1:]}
    return json.loads(run.stdout)


class Runner:
    """Makes graphs and rows in a folder of its own."""

    def __init__(self, options, folder):
        self.tool = options.tool
        self.limit = options.gmacs * 1e9
        self.folder = pathlib.Path(folder)

    def graph(self, name, source, *more):
        path = self.folder / f"{name}.slg"
        made = (ask(self.tool, "import", source, "-o", path) if source else
                ask(self.tool, "zoo", name, *more, "-o", path))
        return path, made

    def once(self, graph, machine, functional):
        """One graph on one machine: planned, judged and simulated."""
        plan = self.folder / "row.slp"
        report = ask(self.tool, "schedule", graph, "--hw", machine, "-o", plan)
        if "error" in report:
            return {"failed": report["error"]}
        judged = ask(self.tool, "verify", plan, "--graph", graph, "--hw", machine)
        if "error" in judged:
            return {"failed": judged["error"]}
        simulate = ["simulate", plan, "--graph", graph, "--hw", machine]
        ran = ask(self.tool, *simulate)
        if "error" in ran:
            return {"failed": ran["error"]}
        claims = {claim["field"]: claim["measured"] for claim in ran["claims"]}
        if functional or claims["macs"] <= self.limit:
            ran = ask(self.tool, *simulate, "--functional")
            if "error" in ran:
                return {"failed": ran["error"]}
        share = report.get("host", {}).get("share", {})
        return {
            "cycles": ran["cycles"],
            "predicted": report["latency_cycles"],
            "macs": claims["macs"],
            "layers": report["layers"],
            "host_layers": report.get("host", {}).get("layers", 0),
            "host_macs": share.get("macs", 0),
            "host_bytes": share.get("bytes", 0),
            "compared": ran.get("functional", {}).get("compared_bytes", 0),
            "mismatches": ran.get("functional", {}).get("mismatches", 0),
        }

    def row(self, name, source, machine):
        fewer = (["--seq", 16] if name.startswith("gpt2") else []) + ["--blocks", 2]
        path, made = self.graph(name, source, *(fewer if (name, machine) in HUGE else []))
        if "error" in made:
            return {"failed": made["error"]}
        row = self.once(path, machine, False)
        if "failed" in row:
            return row
        row["executed"] = "whole" if row["compared"] else "timed"
        if (name, machine) in HUGE:
            row["executed"] = LESS
            row["planned"] = LESS
        elif not row["compared"]:
            reduced, made = self.graph(name, source, *fewer)
            less = {} if "error" in made else self.once(reduced, machine, True)
            if less.get("failed"):
                return less
            if less and less["macs"] < row["macs"]:
                row["executed"] = LESS
                row["compared"] = less["compared"]
                row["mismatches"] = less["mismatches"]
        return row


def holds(row):
    return ("failed" not in row and row["cycles"] == row["predicted"] and
            (row["compared"] > 0 or row["executed"] == "timed") and row["mismatches"] == 0)


def cell(row):
    """Cycles and the host's share; what is wrong, in its place."""
    if "failed" in row:
        return "none"
    text = f"{row['cycles']:,}"
    if row["cycles"] != row["predicted"]:
        text += f" (predicted {row['predicted']:,})"
    if row["mismatches"]:
        text += f" ({row['mismatches']:,} wrong bytes)"
    if "planned" in row:
        text += f" ({row['planned']})"
    if row["host_layers"]:
        text += (f"; {row['host_layers']} of {row['layers']}, {100 * row['host_macs']:.0f} %, "
                 f"{100 * row['host_bytes']:.0f} %")
    return text


def table(title, names, rows):
    lines = [f"| {title} | executed | " + " | ".join(MACHINES) + " |",
             "|---|---|" + "---|" * len(MACHINES)]
    for name in names:
        of = [rows[name, machine] for machine in MACHINES]
        executed = sorted({row.get("executed") or "not" for row in of})
        lines.append(f"| {name} | {', '.join(executed)} | " + " | ".join(map(cell, of)) + " |")
    return "\n".join(lines)


def collect(options, names):
    rows = {}
    keep = pathlib.Path(options.keep) if options.keep else None
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        for name, source in names:
            for machine in MACHINES:
                kept = keep / f"{name}.{machine}.json" if keep else None
                if kept and kept.exists():
                    rows[name, machine] = json.loads(kept.read_text())
                    continue
                rows[name, machine] = runner.row(name, source, machine)
                if kept:
                    kept.write_text(json.dumps(rows[name, machine]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--gmacs", type=float, default=5)
    parser.add_argument("--only", nargs="*", help="names of graphs; without it all of them")
    parser.add_argument("--without", nargs="*", help="names of networks to leave out")
    parser.add_argument("--keep")
    parser.add_argument("--guide")
    options = parser.parse_args()
    listed = subprocess.run([options.tool, "zoo", "--list"], capture_output=True, text=True)
    zoo = [line.split()[0] for line in listed.stdout.splitlines() if line.startswith("  ")]
    models = {path.stem: path for path in sorted(pathlib.Path(options.models).rglob("*.tflite"))}
    zoo = [name for name in zoo if name not in (options.without or [])]
    if options.only:
        zoo = [name for name in zoo if name in options.only]
        models = {name: models[name] for name in models if name in options.only}
    rows = collect(options, [*models.items(), *((name, None) for name in zoo)])
    text = table("TensorFlow Lite", models, rows) + "\n\n" + table("zoo", zoo, rows)
    if options.guide:
        guide = pathlib.Path(options.guide)
        head, rest = guide.read_text().split(BEGIN)
        guide.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
    else:
        print(text)
    wrong = [(key, row) for key, row in rows.items() if not holds(row)]
    for key, row in wrong:
        print(*key, row, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
