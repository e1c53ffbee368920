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
import select
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
    text, first_steps = run(tool, "--help").stdout.split("Subcommands:")[1].split("Examples:")
    check("sluice schedule" in first_steps, "sluice --help has no examples")
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


# What each shell must complete alone.
ENDINGS = {"sluice sch": "schedule", "sluice schedule --obj": "--objective",
           "sluice plot p --hw mcu-2": "mcu-256k", "sluice zoo mobile": "mobilenet_v1",
           "sluice hw ch": "check", "sluice report plan.sl": "plan.slp",
           "sluice import m -o model.t": "model.tflite"}
OBJECTIVES = ["ed2p", "ed3p", "ed4p", "edp", "energy", "latency"]


def bash(tool, work):
    (work / "completion").write_text(run(tool, "completion", "bash").stdout)
    ask = """. ./completion
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "${COMPREPLY[@]}\""""
    expected = {line: [word] for line, word in ENDINGS.items()}
    expected["sluice schedule --objective "] = OBJECTIVES
    for line, want in expected.items():
        found = run("bash", "-c", ask, "bash", *line.split(" "), cwd=work)
        check(sorted(found.stdout.split()) == want, f"{line}: {found.stdout}{found.stderr}")
    return "bash completes"


def fish(tool, work):
    if not shutil.which("fish"):
        return "skipped in part: without fish"
    (work / "sluice.fish").write_text(run(tool, "completion", "fish").stdout)
    env = {**os.environ, "HOME": str(work)}
    expected = {line: [word] for line, word in ENDINGS.items()}
    expected["sluice schedule --objective "] = OBJECTIVES
    for line, want in expected.items():
        found = run("fish", "-N", "-c", f"source sluice.fish; complete -C '{line}'", cwd=work,
                    env=env)
        words = [each.split("\t")[0] for each in found.stdout.splitlines()]
        check(sorted(words) == want, f"fish, {line}: {found.stdout}{found.stderr}")
    return "fish completes"


# On a tab zsh completes, puts the line into a file, and accepts an empty line.
ZSHRC = """
PROMPT='ready> '; fpath=(./zsh $fpath); autoload -Uz compinit; compinit -u -D
ask() { zle complete-word; print -r -- "$BUFFER" >>asked; BUFFER=; zle accept-line }
zle -N ask; bindkey '^I' ask; setopt menu_complete
"""


def zsh(tool, work):
    """A shell on a terminal, whose function path has the script, as where it is installed."""
    if not shutil.which("zsh"):
        return "skipped in part: without zsh"
    (work / "zsh").mkdir()
    (work / "zsh/_sluice").write_text(run(tool, "completion", "zsh").stdout)
    (work / ".zshrc").write_text(ZSHRC)
    expected = {line: line.rsplit(" ", 1)[0] + " " + word for line, word in ENDINGS.items()}
    expected["sluice schedule --objective "] = "sluice schedule --objective " + OBJECTIVES[0]
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "ZDOTDIR": str(work), "HOME": str(work)}
    shell = subprocess.Popen(["zsh", "-d", "-i"], stdin=child, stdout=child, stderr=child,
                             env=env, cwd=work, start_new_session=True)
    os.close(child)
    shown = read_until(parent, "ready> ")
    for line, want in expected.items():
        os.write(parent, line.encode() + b"\t")
        shown = read_until(parent, "ready> ")
        found = (work / "asked").read_text().splitlines()[-1].rstrip()
        check(found == want, f"zsh, {line}: {found}\n{shown}")
    os.write(parent, b"exit\n")
    shell.wait(60)
    os.close(parent)
    return "zsh completes"


def read_until(terminal, words):
    """Reads what a terminal shows up to these words at the end."""
    text, end = "", time.monotonic() + 60
    while not re.sub("\x1b\\[[?0-9;]*[A-Za-z]", "", text).endswith(words):
        check(select.select([terminal], [], [], max(end - time.monotonic(), 0))[0],
              f"no answer: {text!r}")
        text += os.read(terminal, 65536).decode(errors="replace")
    return text


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
    check(re.search(r"\d\.\d s, [\d,]+ iterations, best cost so far \d", shown), f"no progress: {shown!r}")
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
    print(bash(tool, work), fish(tool, work), zsh(tool, work), sep="\n")
    doctor(tool, work)
    colours(tool)
    progress(tool, work)


main()
