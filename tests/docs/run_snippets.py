#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what a page shows.

Fenced blocks of a Markdown page, by their first line:
  ```sh              run, all blocks of a page as one script in an empty folder that holds
                     model.tflite and model.onnx (the project's own where no others are)
  ```sh as a user    not run here: commands that the tests are themselves run by (./run,
                     cmake); tests/package and .ci/run do
  ```c FILE          occurs in FILE, line by line, which the tests compile and run; the
                     same for cpp, rust, go, python. A block in C, C++, Rust or Go with a function
                     main is the whole FILE, but for the comments it begins with. One whole
                     C program without a FILE: tests/api runs it.
  ```text            output or diagrams: not run
Any other block is an error, and so is the name of or a link to a file that is not there, and
a guide that the README does not link to.

  run_snippets.py PAGE ROOT WORK TOOL_FOLDER SHARED
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MAIN = re.compile(r"\bint main\(|^(fn|func) main\(", re.M)


def blocks(text):
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        yield match.group(1).strip(), match.group(2)


def squeeze(text):
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


def occurs(part, whole):
    part, whole = squeeze(part), squeeze(whole)
    last = len(whole) - len(part)
    return any(whole[at : at + len(part)] == part for at in range(last + 1))


def code(source):
    """A source without the comments it begins with."""
    return re.sub(r"\A(\s*(/\*.*?\*/|//[^\n]*\n))+", "", source, flags=re.S)


def unlinked(readme, root):
    """Guides that the README has no link to."""
    guides = (f"bindings/guides/{p.name}" for p in (root / "bindings/guides").glob("*.md"))
    return sorted(guide for guide in guides if f"]({guide})" not in readme)


def main():
    page, root, work, tools, shared = sys.argv[1:]
    root, work = pathlib.Path(root), pathlib.Path(work)
    shared = pathlib.Path(os.environ.get("SLUICE_SHARED", shared))
    script, checked = [], 0
    text = pathlib.Path(page).read_text()
    for info, body in blocks(text):
        if info == "sh":
            script.append(body)
        elif info in ("sh as a user", "text"):
            continue
        elif info == "c" and "int main" in body and text.count("```c\n") == 1:
            checked += 1  # the README's program: tests/api compiles and runs it
        elif re.match(r"(c|cpp|rust|go|cmake|python) \S+$", info):
            source = root / info.split()[1]
            if not occurs(body, source.read_text()):
                sys.exit(f"{page}: a block is not in {source}:\n{body}")
            if MAIN.search(body) and squeeze(body) != squeeze(code(source.read_text())):
                sys.exit(f"{page}: a program is shown, but not the whole of {source}")
            checked += 1
        else:
            sys.exit(f"{page}: nothing is known of a block of kind '{info}'")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not (pathlib.Path(page).parent / link).exists():
            sys.exit(f"{page}: links to {link}, which is not there")
    for named in re.findall(r"`((?:src|tests|include|firmware-sim|bindings)/[\w./-]+)`", text):
        if not (root / named).exists():
            sys.exit(f"{page}: names {named}, which is not there")
    if re.search(r"^    (\./run|sluice|cmake|cpack|cc) ", text, re.M):
        sys.exit(f"{page}: commands stand in an indented block: fence them")
    if pathlib.Path(page) == root / "README.md" and unlinked(text, root):
        sys.exit(f"{page}: links to no {', '.join(unlinked(text, root))}")
    if script:
        models = {
            "model.tflite": shared / "models/tflite/kws_ref_model_int8.tflite",
            "model.onnx": shared / "models/onnx",
        }
        onnx = sorted(models["model.onnx"].rglob("*.onnx"), key=lambda p: p.stat().st_size)
        onnx.append(root / "tests/goldens/qdq_cnn.onnx")
        if not models["model.tflite"].exists():
            models["model.tflite"] = root / "tests/models/residual_cnn_int8.tflite"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        shutil.copy(models["model.tflite"], work / "model.tflite")
        shutil.copy(onnx[0], work / "model.onnx")
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        done = subprocess.run(
            ["sh", "-eux"], input="\n".join(script), cwd=work, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        if done.returncode != 0:
            sys.exit(f"{page}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    print(f"{page}: {len(script)} scripts ran, {checked} snippets stand in their sources")


main()
