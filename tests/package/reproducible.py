# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same bytes in two folders.

  reproducible.py --build BUILD --root ROOT --work WORK --sample 12
      objects of the build against objects of the same sources, copied to another folder:
      their code and data. What the linker reads to optimise across sources is left out, since
      the compiler names it by a random number; libraries do not contain it.
  reproducible.py --root ROOT --work WORK --whole
      everything that is installed, built in two folders without a compiler cache; by hand,
      since it compiles all sources twice

A path in an object (an assertion's file, a debugger's folder) or an order that hangs on one
shows here.
"""
import argparse
import filecmp
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys

PARTS = ("src", "include", "firmware-sim", "bindings", "CMakeLists.txt", "CMakePresets.json",
         "LICENSE", "README.md", "SECURITY.md")


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")


def copy(root, to):
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, to / part)
        elif (root / part).exists():
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / part, to / part)


def code_of(objcopy, made, to):
    run([objcopy, "--strip-debug", "--wildcard", "--remove-section=.gnu.lto_*",
         "--remove-section=.gnu.debuglto_*", str(made), str(to)])
    return to


def compile_again(entry, build, root, other, work):
    """The object of an entry of compile_commands.json, from the copy of the sources."""
    words = shlex.split(entry["command"])
    if "ccache" in words[0]:
        words = words[1:]
    made = pathlib.Path(entry["directory"]) / words[words.index("-o") + 1]
    again = work / "again.o"
    words[words.index("-o") + 1] = str(again)
    # Generated headers come from the build; all else from the copy.
    words = [w if str(build) in w else w.replace(str(root), str(other)) for w in words]
    words[-1] = entry["file"].replace(str(root), str(other))
    run(words, cwd=other, env={**os.environ, "CCACHE_DISABLE": "1"})
    return made, again


def sample(arguments, root, build, work):
    other = work / "a-copy-in-a-folder-with-another-name"
    copy(root, other)
    entries = [e for e in json.loads((build / "compile_commands.json").read_text())
               if e["file"].startswith(f"{root}/src/") and e["file"].endswith(".cc")
               and "-fsanitize" not in e["command"]]
    entries = [e for e in entries
               if (pathlib.Path(e["directory"]) / shlex.split(e["command"])[
                   shlex.split(e["command"]).index("-o") + 1]).exists()]
    chosen = random.Random(1).sample(entries, min(arguments.sample, len(entries)))
    different = []
    for entry in chosen:
        made, again = compile_again(entry, build, root, other, work)
        one = code_of(arguments.objcopy, made, work / "made_code.o")
        other_one = code_of(arguments.objcopy, again, work / "again_code.o")
        if not filecmp.cmp(one, other_one, shallow=False):
            different.append(entry["file"])
    print("\n".join(f"other bytes: {name}" for name in different))
    print(f"{len(chosen)} of {len(entries)} objects compiled in another folder, "
          f"{len(different)} differ")
    return 1 if different or not chosen else 0


def whole(root, work):
    installed = []
    for name in ("first", "the-second-with-a-longer-name"):
        folder = work / name
        copy(root, folder / "sources")
        environment = {k: v for k, v in os.environ.items() if "COMPILER_LAUNCHER" not in k}
        run(["cmake", "-S", folder / "sources", "-B", folder / "build", "-G", "Ninja", "-Wno-dev",
             "-DCMAKE_BUILD_TYPE=Release", "-DSLUICE_BUILD_TESTS=OFF"], env=environment)
        run(["cmake", "--build", folder / "build", "-j", "2"], env=environment)
        run(["cmake", "--install", folder / "build", "--prefix", folder / "installed"])
        installed.append(folder / "installed")
    names = [sorted(p.relative_to(i) for i in [one] for p in one.rglob("*") if p.is_file())
             for one in installed]
    different = [n for n in names[0] if not filecmp.cmp(installed[0] / n, installed[1] / n,
                                                        shallow=False)]
    print("\n".join(f"other bytes: {name}" for name in different))
    print(f"{len(names[0])} installed files of two folders, {len(different)} differ")
    return 1 if different or names[0] != names[1] or not names[0] else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--build")
    parser.add_argument("--objcopy", default="objcopy")
    parser.add_argument("--sample", type=int, default=12)
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.root).resolve()
    work = pathlib.Path(arguments.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if arguments.whole:
        return whole(root, work)
    return sample(arguments, root, pathlib.Path(arguments.build).resolve(), work)


if __name__ == "__main__":
    sys.exit(main())
