#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the tool says of itself: every example of --help runs, the manual page has
every option and is well formed, completion works, `doctor` finds nothing wrong, colours
and progress appear on terminals alone.

  help.py TOOL MODEL.tflite WORK
"""
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import sys
import time

GRID = """{ "networks": "alexnet", "hardware": "soma-edge", "solver": "baseline",
  "buffer_bytes": ["1M", "2M"], "dram_bytes_per_cycle": [8, 16] }"""
BUFFERS = "id,lower,upper,size\na,0,2,4096\nb,1,3,8192\nc,2,4,1024\n"

OWN = """
import csv, json
rows = [row for row in csv.DictReader(open("layers.csv")) if int(row["tiles"])]
json.dump({"groups": [[{"layers": [row["name"].rsplit(" (", 1)[0]], "tiles": 1}]
                      for row in rows]},
          open("schedule.json", "w"))
"""


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def check(true, words):
    if not true:
        sys.exit(words)


def commands_of(tool):
    text = run(tool, "--help").stdout.split("Subcommands:")[1]
    return re.findall(r"^  (\w+)", text, re.M)


def examples(tool, work, commands):
    """Runs the examples of all commands as one script, in the order of the commands."""
    lines = []
    for command in commands:
        text = run(tool, command, "--help").stdout
        found = re.findall(r"^  (sluice .*)$", text.split("Examples:")[-1], re.M)
        check("Examples:" in text and found, f"{command} --help has no examples")
        check(any(line.split()[1] == command for line in found), f"{command}: {found}")
        lines += found
    # `sluice evaluate` needs a schedule: the layers of an earlier example, one by one.
    at = next(i for i, line in enumerate(lines) if line.startswith("sluice evaluate"))
    lines.insert(at, "python3 own.py")
    (work / "own.py").write_text(OWN)
    script = "set -e\n" + "\n".join(
        f"echo {shlex.quote('+ ' + line)} >&2; {line}" for line in lines)
    (work / "grid.json").write_text(GRID)
    (work / "buffers.csv").write_text(BUFFERS)
    path = f"{pathlib.Path(tool).parent}:{os.environ['PATH']}"
    done = run("bash", "-c", script, cwd=work, env={**os.environ, "PATH": path})
    check(done.returncode == 0, f"an example fails:\n{done.stderr[-1500:]}")
    for name in ("plan.slp", "report.html", "all.csv", "maps.svg", "sluice.1", "sluice.bash"):
        check((work / name).exists(), f"no example has made {name}")
    return len(lines)


def manual(tool, commands):
    page = run(tool, "manual").stdout
    for command in commands:
        check(f'.SS "sluice {command}' in page, f"the manual lacks {command}")
        part = page.split(f'.SS "sluice {command}')[1].split(".SS")[0]
        for option in known(tool, command):
            name = option.replace("-", "\\-")
            check(f"\\fB{name}\\fR" in part, f"the manual lacks {command} {option}")
    if shutil.which("groff"):
        shown = run("groff", "-man", "-Tascii", "-P-cbou", "-ww", input=page)
        check(shown.stderr == "" and "EXIT STATUS" in shown.stdout,
              f"groff: {shown.stderr}{shown.stdout[-300:]}")
        return "read by groff"
    return "skipped in part: without groff"


def known(tool, command):
    """Options that start a line of the help, without those that are named in sentences."""
    text = run(tool, command, "--help").stdout.split("Options:")[1].split("\n\n")[0]
    return {name for line in re.findall(r"^  (-\S+)", text, re.M) for name in line.split(",")}


def bash(tool, work):
    (work / "completion").write_text(run(tool, "completion", "bash").stdout)
    ask = """. ./completion
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "${COMPREPLY[@]}\""""
    expected = {("sluice", "sch"): ["schedule"], ("sluice", "schedule", "--obj"): ["--objective"],
                ("sluice", "schedule", "--objective", ""): ["edp", "latency", "energy"],
                ("sluice", "plot", "p", "--hw", "mcu-2"): ["mcu-256k"],
                ("sluice", "zoo", "mobile"): ["mobilenet_v1"], ("sluice", "hw", "ch"): ["check"],
                ("sluice", "report", "plan.sl"): ["plan.slp"],
                ("sluice", "import", "m", "-o", "model.t"): ["model.tflite"]}
    for words, want in expected.items():
        found = run("bash", "-c", ask, "bash", *words, cwd=work)
        check(found.stdout.split() == want, f"{words}: {found.stdout}{found.stderr}")
    said = ["bash completes"]
    for shell in ("zsh", "fish"):
        (work / shell).write_text(run(tool, "completion", shell).stdout)
        check("mcu-256k" in (work / shell).read_text(), f"{shell} does not know the presets")
        if shutil.which(shell):
            parsed = run(shell, "-n", str(work / shell))
            check(parsed.returncode == 0, f"{shell}: {parsed.stderr}")
            said.append(f"{shell} reads its script")
        else:
            said.append(f"skipped in part: without {shell}")
    return "\n".join(said)


def doctor(tool, work):
    found = json.loads(run(tool, "doctor", "--json", cwd=work).stdout)
    states = {entry["check"]: entry["state"] for entry in found["checks"]}
    check(found["ok"] and states["a plan"] == states["presets"] == states["library"] == "ok",
          found)
    if os.environ.get("SLUICE_SANITIZED") == "ON":  # sanitizers need too much address space
        return
    limited = run("bash", "-c", f"ulimit -v 8000000; {tool} doctor", cwd=work)
    check(limited.returncode == 0 and "ulimit" in limited.stdout, limited.stdout)


def on_terminal(command, **environment):
    """What a command writes when its output is a terminal."""
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm", **environment}
    process = subprocess.Popen(command, stdout=child, stderr=child, env=env)
    os.close(child)
    text = b""
    try:
        while True:
            piece = os.read(parent, 65536)
            if not piece:
                break
            text += piece
    except OSError:  # the other end is closed
        pass
    process.wait()
    os.close(parent)
    return text.decode()


def colours(tool):
    for command in ([tool, "hw", "--list"], [tool, "hw", "nonesuch"]):
        plain = run(*command)
        check("\x1b" not in plain.stdout + plain.stderr, f"{command}: colours in a pipe")
        check("\x1b[" in on_terminal(command, NO_COLOR=""), f"{command}: no colours")
        check("\x1b[" not in on_terminal(command, NO_COLOR="1"), f"{command}: NO_COLOR")
        check("\x1b[" not in on_terminal(command, TERM="dumb"), f"{command}: TERM=dumb")


def progress(tool, work):
    """Progress appears on a terminal after a second, never earlier and never in a pipe."""
    longer = [tool, "schedule", str(work / "model.slg"), "--hw", "mcu-256k", "--solver",
              "fusion", "--iterations", "1000000000000", "--deadline", "1500ms"]
    shown = on_terminal(longer)
    check(re.search(r"[\d,]+ iterations, cost", shown), f"no progress: {shown!r}")
    check("\r" not in run(*longer).stderr, "progress in a pipe")
    begin = time.monotonic()
    quick = on_terminal([tool, "schedule", str(work / "model.slg"), "--hw", "mcu-256k",
                         "--solver", "baseline"])
    took = time.monotonic() - begin  # a busy machine may be slow
    check("\r\x1b[K" not in quick or took > 1, f"progress of little work: {quick!r}")
    # A long command without progress of its own: the same functional run many times.
    runs = [tool, "simulate", str(work / "plan.slp"), "--graph", str(work / "model.slg"), "--hw",
            "mcu-256k", "--functional", "--runs"]
    count = 64
    while "simulated, " not in on_terminal([*runs, str(count)]):
        check(count < 1 << 16, "no progress of a long run")
        count *= 4
    check("simulated, " not in run(*runs, str(count)).stderr, "progress in a pipe")


def main():
    tool, model, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copy(model, work / "model.tflite")
    commands = commands_of(tool)
    print(examples(tool, work, commands), "examples run")
    print(manual(tool, commands))
    print(bash(tool, work))
    doctor(tool, work)
    colours(tool)
    progress(tool, work)


main()
