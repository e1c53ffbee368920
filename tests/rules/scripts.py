# SPDX-License-Identifier: Apache-2.0
"""Finds the functions of what is not C or C++: Python, CMake, shell, Go and Rust.

Python is parsed. Of the others, a function ends at the first line that begins, as far to the
left as the function does, with what ends a function: the formatting of all of them puts it there.
"""
import ast
import pathlib
import re
from dataclasses import dataclass

FOLDERS = ("src", "firmware-sim", "tests", "bindings", "include")
ALONE = ("run", "CMakeLists.txt")
MADE = ("bindings/rust/src/sys.rs",)  # by bindgen
OPENING = {  # ending: where a function begins; its indent and its name are groups
    ".cmake": (r"^([ \t]*)(?:function|macro)\((\w+)", r"end(?:function|macro)\("),
    ".sh": (r"^([ \t]*)(\w+)\(\) *\{", r"\}"),
    ".go": (r"^([ \t]*)func (?:\([^)]*\) )?(\w+)", r"\}"),
    ".rs": (r"^([ \t]*)(?:pub(?:\([^)]*\))? )?(?:const |unsafe |extern \"C\" )*fn (\w+)[^;{]*\{",
            r"\}"),
}


@dataclass
class Function:
    name: str
    first: int  # line
    lines: int


def paths(root):
    """Paths of scripts below the root, relative to it, in a fixed order."""
    root = pathlib.Path(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root).as_posix()
            if path.is_file() and kind_of(relative) and relative not in MADE:
                yield relative
    yield from (path for path in ALONE if (root / path).is_file())


def kind_of(path):
    path = pathlib.PurePath(path)
    if path.name == "CMakeLists.txt":
        return ".cmake"
    if path.name == "run":
        return ".sh"
    return path.suffix if path.suffix == ".py" or path.suffix in OPENING else None


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min(part.lineno for part in (node, *node.decorator_list))
            yield Function(node.name, first, node.end_lineno - first + 1)


def functions(path, text):
    """Each function of one script."""
    if kind_of(path) == ".py":
        yield from functions_of_python(text)
        return
    opening, ending = OPENING[kind_of(path)]
    for found in re.finditer(opening, text, re.M):
        end = re.compile(rf"^{found.group(1)}{ending}", re.M).search(text, found.end())
        if end and "\n" in text[found.start() : end.start()]:
            lines = text.count("\n", found.start(), end.start()) + 1
            yield Function(found.group(2), text.count("\n", 0, found.start()) + 1, lines)
