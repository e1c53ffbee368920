# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same bytes in two folders.

  reproducible.py --build BUILD --root ROOT --work WORK --sample 8
      objects of the build against objects of the same sources, copied to another folder:
      their code and data. What the linker reads to optimise across sources is left out, since
      the compiler names it by a random number; libraries do not contain it. Then a shared
      library of each (of the sample and of LINKED, by the options of libsluice, optimised
      across its sources) and an archive of one object, as libsluice.a is.
  reproducible.py --root ROOT --work WORK --whole
      everything that is installed, built in two folders without a compiler cache; by hand,
      since it compiles all sources twice

A path in an object (an assertion's file, a debugger's folder) or an order that hangs on one
shows here. --spoil puts the folder's name into one of the second folder's sources, which has to
be noticed.
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
# Sources that call each other, so that a link of them keeps code: the C functions of tokens and
# what they need.
LINKED = ("src/api/tokens/", "src/lower/", "src/base/")


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


def compile_again(entry, build, root, other, again):
    """The object of an entry of compile_commands.json, from the copy of the sources."""
    words = shlex.split(entry["command"])
    if "ccache" in words[0]:
        words = words[1:]
    made = pathlib.Path(entry["directory"]) / words[words.index("-o") + 1]
    words[words.index("-o") + 1] = str(again)
    # Generated headers come from the build; all else from the copy.
    words = [w if str(build) in w else w.replace(str(root), str(other)) for w in words]
    words[-1] = entry["file"].replace(str(root), str(other))
    run(words, cwd=other, env={**os.environ, "CCACHE_DISABLE": "1"})
    return made, again


def link_command(build):
    """How the build links libsluice, without its objects; None without Ninja."""
    if shutil.which("ninja") is None or not (build / "build.ninja").exists():
        return None
    told = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "src/libsluice.so"],
                          capture_output=True, text=True, check=True).stdout
    link = next(line for line in told.splitlines() if "-soname,libsluice.so" in line)
    words = shlex.split(link.split("&&")[1])
    words = [w for w in words if not w.endswith(".o") and w != "-Wl,--no-undefined"]
    at = words.index("-o")
    return words[:at] + words[at + 2:]


def linked(arguments, command, objects, folder, build):
    """A shared library and an archive of these objects, made in a folder of their own."""
    folder.mkdir()
    made = []
    if command is not None:
        for word in command:  # the list of exported names, copied to where it is read
            if word.startswith("-Wl,--version-script="):
                shutil.copy(word.partition("=")[2], folder / "names.map")
        words = [f"-Wl,--version-script={folder}/names.map" if w.startswith("-Wl,--version-script=")
                 else w for w in command]
        run(words + ["-o", str(folder / "lib.so")] + [str(o) for o in objects], cwd=build)
        made.append(folder / "lib.so")
    run(["ld", "-r", "--force-group-allocation", "-o", str(folder / "one.o")]
        + [str(o) for o in objects])
    code_of(arguments.objcopy, folder / "one.o", folder / "one.o")
    run(["ar", "qcD", str(folder / "lib.a"), "one.o"], cwd=folder)
    return made + [folder / "lib.a"]


def entries_of(root, build):
    """The commands that made objects of the library that are there."""
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        made = pathlib.Path(entry["directory"]) / words[words.index("-o") + 1]
        if (entry["file"].startswith(f"{root}/src/") and entry["file"].endswith(".cc")
                and "-fsanitize" not in entry["command"] and made.exists()):
            entries.append(entry)
    return entries


def sample(arguments, root, build, work):
    other = work / "a-copy-in-a-folder-with-another-name"
    copy(root, other)
    entries = entries_of(root, build)
    together = [e for e in entries if e["file"].startswith(
        tuple(f"{root}/{folder}" for folder in LINKED))]
    rest = [e for e in entries if e not in together]
    chosen = together + random.Random(1).sample(rest, min(arguments.sample, len(rest)))
    if arguments.spoil:
        chosen = together = together[:1]
        spoiled = pathlib.Path(chosen[0]["file"].replace(str(root), str(other)))
        with spoiled.open("a", encoding="utf-8") as source:
            source.write(f'\nextern const char folder[];\nconst char folder[] = "{other}";\n')
    different, objects = [], ([], [])
    for at, entry in enumerate(chosen):
        made, again = compile_again(entry, build, root, other, work / f"{at}.o")
        one = code_of(arguments.objcopy, made, work / "made_code.o")
        other_one = code_of(arguments.objcopy, again, work / "again_code.o")
        if not filecmp.cmp(one, other_one, shallow=False):
            different.append(entry["file"])
        if entry in together:
            objects[0].append(made)
            objects[1].append(again)
    command = link_command(build)
    pairs = list(zip(linked(arguments, command, objects[0], work / "first", build),
                     linked(arguments, command, objects[1], work / "second-one", build)))
    different += [one.name for one, two in pairs if not filecmp.cmp(one, two, shallow=False)]
    print("\n".join(f"other bytes: {name}" for name in different))
    if command is None:
        print("skipped in part: no shared library is linked without ninja's commands")
    print(f"{len(chosen)} of {len(entries)} objects compiled in another folder and "
          + " and ".join(f"{one.name} ({one.stat().st_size} bytes)" for one, _ in pairs)
          + f" linked, {len(different)} differ")
    return 1 if different or not together else 0


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
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--spoil", action="store_true")
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
