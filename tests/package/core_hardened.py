# SPDX-License-Identifier: Apache-2.0
"""How much longer the core's code would be with options that harden it. By hand; a build by
Ninja with its objects is needed.

  core_hardened.py BUILD [SAMPLE [OPTION...]]    40 sources, -fstack-protector-strong
"""
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile


def code_bytes(made):
    """Of code and of constants."""
    told = subprocess.run(["size", "-A", str(made)], capture_output=True, text=True,
                          check=True).stdout
    lines = [line.split() for line in told.splitlines()]
    return sum(int(words[1]) for words in lines
               if len(words) == 3 and words[0].startswith((".text", ".rodata")))


def objects_of_core(build):
    told = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "src/libsluice_core.so"],
                          capture_output=True, text=True, check=True).stdout
    link = next(line for line in told.splitlines() if "-soname,libsluice_core" in line)
    return {word for word in shlex.split(link) if word.endswith(".o")}


def compiled_with(entry, options, made):
    words = [w for w in shlex.split(entry["command"]) if w not in ("-flto", "-ffat-lto-objects")]
    words = words[1:] if "ccache" in words[0] else words
    at = words.index("-o")
    words[at + 1] = str(made)
    subprocess.run(words[:at] + options + words[at:], cwd=entry["directory"], check=True)
    return code_bytes(made)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    options = sys.argv[3:] or ["-fstack-protector-strong"]
    core = objects_of_core(build)
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        entry["object"] = words[words.index("-o") + 1]
        if entry["object"] in core and (build / entry["object"]).exists():
            entries.append(entry)
    chosen = random.Random(1).sample(entries, min(count, len(entries)))
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "hardened.o"
        before = sum(code_bytes(build / e["object"]) for e in chosen)
        after = sum(compiled_with(e, options, made) for e in chosen)
    print(f"{len(chosen)} of the core's {len(core)} sources: {before} bytes, with "
          f"{' '.join(options)} {after}: {100 * after / before - 100:+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
