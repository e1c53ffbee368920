#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which sources of a program one compiler call may take together.

  joined_sources.py ROOT LIST           LIST has a line "TARGET SOURCE" for each source; prints
                                        "TARGET GROUP SOURCE" for each one in a group
  joined_sources.py --self-test

Most of the time to compile a test goes into headers and into the inline functions that each
source makes again. Sources in one call share both. Two sources share a call only if no name
that one of them defines outside of functions occurs in the other one, or in a header of the
project that the other one includes: such a name would be defined twice, or mean another thing.
Headers with different types, or functions of tests, of one name are kept apart too, and so are
sources of one file name, which messages of a joined call could not tell apart. Sources that
say `using namespace` are joined only where they all open the same ones. A source with a macro of
its own or a struct of the C interface stays alone. In the library, whose functions are declared in
headers, a name that a header of both mentions means the same in both, unless both define it, or one
defines a type of this name and a header of the other does.
"""
import functools
import os
import re
import sys
import tempfile

MOST = 8  # sources per call, so that several processors have work
ALONE = re.compile(r"^\s*#\s*(?:define|undef|pragma)\b|^int main\(|^struct sluice_", re.M)
OPENED = re.compile(r"^\s*using namespace\s+([\w:]+);", re.M)
# clang-format puts what stands in a namespace at the beginning of a line.
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|enum class|enum|union|namespace)\s+(\w+)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")
USING = re.compile(r"^using\s+([\w:]+::(\w+));", re.M)
OTHER = re.compile(r"^[A-Za-z_][\w:<>,&*\s]*?[\s&*>](\w+)\s*(?:\(|=|\{|\[|;)")
NAMED = re.compile(r"^(\w+)\(")  # a function whose type stands on the line before
BODY = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|enum class|enum|union)\s+(\w+)[^;]*\{")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
TEST = re.compile(r"^(?:TEST_CASE|TEST_SUITE|TYPE_TO_STRING|REGISTER_|DOCTEST_|SCENARIO)")
LIBRARY = re.compile(r"/src/(?!cli/|import/|zoo/|presets/|package/)")
SHARED = {"judge", "static_assert", "sluice", "sluice_test", "sluice_sim", "sluice_cli", "sluice_import"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def defined(text):
    names = set()
    for line in without_comments(text).split("\n"):
        if TEST.match(line) or line[:1] in "#}":
            continue
        for pattern in (TYPE, ALIAS, OTHER, NAMED):
            found = pattern.match(line)
            if found:
                names.add(found.group(1))
                break
    return names - SHARED


@functools.lru_cache(maxsize=None)
def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def words(path):
    return frozenset(re.findall(r"[A-Za-z_]\w*", without_comments(read(path))))


@functools.lru_cache(maxsize=None)
def unqualified(path):
    """Words of a source that no `::` precedes."""
    return frozenset(re.findall(r"(?<![\w:])[A-Za-z_]\w*", without_comments(read(path))))


def used(path):
    """{name: what it stands for} of the source's declarations `using a::name;`."""
    return {name: whole for whole, name in USING.findall(without_comments(read(path)))}


@functools.lru_cache(maxsize=None)
def included(root, path):
    found = []
    for name in INCLUDE.findall(read(path)):
        for folder in (os.path.dirname(path), root, root + "/tests", root + "/src",
                       root + "/include"):
            header = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(header):
                found.append(header)
                break
    return tuple(found)


@functools.lru_cache(maxsize=None)
def made_in(root, path):
    """What a header defines that may stand in another header too."""
    if path.startswith(root + "/tests/"):
        return frozenset(defined(read(path)))
    lines = map(BODY.match, without_comments(read(path)).split("\n"))
    return frozenset(found.group(1) for found in lines if found)


def spoken(root, path):
    """All words of a source and of the project's headers that it includes; (name, header) of what
    these headers define; the headers."""
    seen, waiting = {path}, [path]
    result, places = set(), {}
    while waiting:
        at = waiting.pop()
        result |= words(at)
        if at != path:
            places.update(dict.fromkeys(made_in(root, at), at))
        for header in included(root, at):
            if header not in seen:
                seen.add(header)
                waiting.append(header)
    return result, places, seen - {path}


def agree(ours, theirs):
    return all(theirs.get(name, place) == place for name, place in ours.items())


class Source:
    def __init__(self, root, path):
        text = read(path)
        self.path = path
        self.names = defined(text)
        self.types = {found.group(1) for found in map(BODY.match, without_comments(text).split("\n"))
                      if found}
        self.words, self.places, self.headers = spoken(root, path)
        self.of_library = LIBRARY.match(path[len(root):]) is not None
        self.opened = set(OPENED.findall(text))
        self.used = used(path)

    def may_join(self, other):
        if os.path.basename(self.path) == os.path.basename(other.path):
            return False
        declared = set()
        if self.of_library and other.of_library:
            declared.update(*map(words, self.headers & other.headers))
            declared -= self.names & other.names
        for one, two in ((self, other), (other, self)):
            if one.names & two.words - declared or set(one.used) & two.names:
                return False
            if one.types & set(two.places):
                return False
            # A name that one declares as used means the same in two, or is not there.
            if any(two.used.get(name) != whole and name in unqualified(two.path)
                   for name, whole in one.used.items()):
                return False
        return self.opened == other.opened and agree(self.places, other.places)


def groups(root, sources):
    made = []
    for path in sorted(sources):
        if ALONE.search(read(path)):
            continue
        source = Source(root, path)
        for group in made:
            if len(group) < MOST and all(map(source.may_join, group)):
                group.append(source)
                break
        else:
            made.append([source])
    return [[source.path for source in group] for group in made if len(group) > 1]


def self_test():
    assert USING.findall("using a::b::C;\nusing D = int;\n") == [("a::b::C", "C")]
    names = defined("namespace {\nstruct A {\n  int b;\n};\nusing C = int;\nconstexpr int kD = 1;\n"
                    "std::vector<int> E(int f) {\n  return g(f);\n}\nTEST_CASE(\"h\") {\n"
                    "LongType\nI(int a) {\n// int J;\n")
    assert names == {"A", "C", "kD", "E", "I"}, names
    assert ALONE.search("#define X 1") and OPENED.findall("using namespace a;\n  using namespace b;")
    assert not ALONE.search("#include <vector>\nusing sluice::Span;\n")
    texts = {"a": "using x::F;\n", "b": "using x::F;\nF* g;\n", "c": "struct F {\n};\n",
             "d": "using z::F;\n", "e": "F* h;\n", "f": "using namespace sluice;\n",
             "g": "using namespace sluice;\nint k;\n"}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        found = groups(folder, [os.path.join(folder, name) for name in texts])
        # h declares F, which i defines and j calls; k and i both have a G of their own.
        library = {"h": "void F(int G);\n", "i": '#include "h"\nvoid F(int) {\n}\nint G();\n',
                   "j": '#include "h"\nint I() { F(1); }\n',
                   "k": '#include "h"\nint G();\n', "l": "int F;\n",
                   # p has a type of its own whose name s mentions and q defines.
                   "p": '#include "s"\nstruct T {\n};\n', "q": "enum class T {\n};\n",
                   "r": '#include "q"\n#include "s"\nint P;\n', "s": "void S(int T);\n"}
        os.makedirs(os.path.join(folder, "src/model"))
        for name, text in library.items():
            with open(os.path.join(folder, "src/model", name), "w", encoding="utf-8") as file:
                file.write(text)
        found += groups(folder, [os.path.join(folder, "src/model", name)
                                 for name in library if name not in "hqs"])
        # m shares a call with n, but not with the other m.
        alike = [os.path.join(folder, name) for name in ("x/m", "y/m", "y/n")]
        for number, path in enumerate(alike):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"int o{number};\n")
        found += groups(folder, alike)
    found = ["".join(map(os.path.basename, group)) for group in found]
    assert found == ["ab", "fg", "ijp", "kr", "mn"], found


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    targets = {}
    for line in read(sys.argv[2]).splitlines():
        target, path = line.split(" ", 1)
        targets.setdefault(target, []).append(path)
    for target, sources in targets.items():
        for number, group in enumerate(groups(sys.argv[1], sources)):
            for path in group:
                print(f"{target} joined{number} {path}")


main()
