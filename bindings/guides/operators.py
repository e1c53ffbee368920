#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of operators that the importers know: bindings/guides/operators.md.

From the importers' tables and from what their functions demand: a restriction is the sentence
with which an operator that does not meet it is refused.

    operators.py ROOT            writes the page
    operators.py ROOT --check    fails when the page is another one
"""
import glob
import os
import re
import sys

PAGE = "bindings/guides/operators.md"

HEAD = """# Operators that the importers know

Made by `python3 bindings/guides/operators.py .` from the importers' tables; a test holds this
page to them. An operator is refused when one of the phrases of its row applies to it: it
then stands in the report's list `SLUICE_IMPORT_REFUSED` with that phrase. Operators that are
lowered together have the phrases of their group: one of them may be about another operator of
it, as "operands quantised differently", which of ADD, MUL, MINIMUM and MAXIMUM only the last
two are refused for. [When a model is refused](import.md#when-a-model-is-refused) says what can
be done.
"""

# What every source may call; other functions are looked for in the source that calls them.
SHARED = {
    "ProductOfAxes": ["an extent above 2^31 - 1"],
    "AppendShape": ["more than eight axes", "ranks that disagree", "an extent above 2^31 - 1"],
    "MatrixOptions": ["extents that do not fit a product", "batch axes that do not broadcast",
                      "more than eight axes", "ranks that disagree",
                      "an extent above 2^31 - 1"],
}


def body(text, name):
    """Of the function with that name; "" where it stands elsewhere."""
    found = re.search(r"^(?:[\w:<>&*,]+ )+%s\([^;{]*\) \{\n" % name, text, re.MULTILINE)
    if not found:
        return ""
    end = text.find("\n}\n", found.end())
    return text[found.end():end]


def phrases(texts, text, name, seen):
    """What the function and those that it calls demand: functions of the same source, and of
    others those that lower a node."""
    if name in seen:
        return []
    seen.add(name)
    if name.startswith("LowerOnnx") and not body(text, name):
        text = next((other for other in texts if body(other, name)), text)
    code = body(text, name)
    found = []
    for match in re.finditer(r'\bRequire\(|\b([A-Z]\w+)(?:<\w+>)?\(', code):
        if match[1] is not None:
            found += SHARED.get(match[1]) or phrases(texts, text, match[1], seen)
            continue
        depth, at = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        said = re.search(r',\s*((?:"[^"]*"\s*)+)\)$', code[match.end() - 1:at])
        if said:
            found.append("".join(re.findall(r'"([^"]*)"', said[1])))
    return list(dict.fromkeys(found))


def sources(root, folder):
    texts = []
    for path in sorted(glob.glob(os.path.join(root, folder, "*.cc"))):
        with open(path) as file:
            texts.append(file.read())
    return texts


def demands(texts, function):
    for text in texts:
        if body(text, function):
            return phrases(texts, text, function, set())
    raise SystemExit(f"{function} is nowhere defined")


def entries(text, function):
    """Rows {Function, {"Op", ...}} of a table."""
    code = body(text, function)
    for match in re.finditer(r'\{(\w+),\s*\{((?:\s*"[\w.]+",?)+)\}\}', code):
        yield match[1], re.findall(r'"([\w.]+)"', match[2])


TYPES = {"kFloat": ["float32"], "kBytes": ["int8", "uint8"], "kShort": ["int16"],
         "kWhole": ["int32", "int64"], "kBool": ["bool"]}
TYPES["kQuantised"] = TYPES["kBytes"] + TYPES["kShort"]
TYPES["kAny"] = (TYPES["kFloat"] + TYPES["kQuantised"] + TYPES["kWhole"] + TYPES["kBool"])


def kernels(texts):
    """Operator -> types of the rows {Op::NAME, input, types, numbers, check}."""
    found = {}
    for text in texts:
        for op, kinds in re.findall(r"\{Op::(\w+), \d, (k[\w |]+),\s+\w+,\s+\w+\}", text):
            found[op] = [t for kind in kinds.split(" | ") for t in TYPES[kind]]
    return found


def types_table(title, rows):
    lines = [title, "", "| operator | types |", "|---|---|"]
    lines += [f"| {op} | {', '.join(kinds)} |" for op, kinds in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def table(title, rows):
    lines = [title, "", "| operator | refused where it has |", "|---|---|"]
    for op, said in sorted(rows.items(), key=lambda row: row[0].lower()):
        lines.append(f"| {op} | {'; '.join(said)} |")
    return "\n".join(lines) + "\n"


def check_shared(texts):
    """SHARED says what the sources demand."""
    for name, said in SHARED.items():
        code = "".join(body(text, part) for text in texts if body(text, name)
                       for part in (name, "AppendShape", "Narrow"))
        if not code or any(f'"{phrase}"' not in code for phrase in said):
            raise SystemExit(f"{name} does not demand: {'; '.join(said)}")


def page(root):
    lite = sources(root, "src/import/tflite")
    onnx = sources(root, "src/import/onnx")
    check_shared(onnx)
    parts = [HEAD]
    rows = {}
    for text in lite:
        for op, function in re.findall(r"\{Op::(\w+), (Lower\w+)\}", text):
            rows[op] = demands(lite, function)
    rows["CUSTOM:TFLite_Detection_PostProcess"] = demands(lite, "LowerDetection")
    parts.append(table(f"## TensorFlow Lite: {len(rows)} operators\n\nWhat depends on "
                       "constants alone is computed at import, whatever its operator.", rows))
    host = kernels(lite)
    parts.append(types_table(
        f"## TensorFlow Lite: {len(host)} operators by functions of the host\n\nWhere the "
        "table above refuses an operator, or does not have it, the host computes these types.",
        host))
    rows, host = {}, {}
    for text in onnx:
        for function, ops in entries(text, "Entries"):
            for op in ops:
                rows[op] = demands(onnx, function)
        for function, ops in entries(text, "HostEntries"):
            for op in ops:
                host[op] = demands(onnx, function)
    parts.append(table(f"## ONNX: {len(rows)} operators by layers", rows))
    parts.append(table(
        f"## ONNX: {len(host)} operators by functions of the host\n\nOf models that quantise "
        "activations, where the table above refuses the operator or would keep its shapes "
        "alone.", host))
    apart = rewritten(onnx)
    parts.append(table(
        f"## ONNX: {len(apart)} operators that are taken apart\n\nBefore shapes are inferred they "
        "become operators of the tables above; QGemm and GatherElements where those tables do not "
        "have their form.", apart))
    return "\n".join(parts)


def sentence(text, code):
    """A C string, or the constant of that name."""
    if code.startswith("k"):
        code = re.search(r'constexpr char %s\[\] =\s*((?:"[^"]*"\s*)+);' % code, text)[1]
    return "".join(re.findall(r'"([^"]*)"', code))


def rewritten(texts):
    """Operators of the rows {"NAME", function, phrase} of the two tables of rewrites."""
    found = {}
    for text in texts:
        for domain, table_name in (("", "kOnnx"), ("com.microsoft.", "kRuntime")):
            rows = re.search(r"constexpr Row %s\[\] = \{(.*?)\};" % table_name, text, re.DOTALL)
            if not rows:
                continue
            for op, code in re.findall(r'\{"(\w+)", \w+,\s*((?:"[^"]*"\s*)+|k\w+)\}', rows[1]):
                found[domain + op] = [sentence(text, code)]
    return found


def main():
    root = sys.argv[1]
    path = os.path.join(root, PAGE)
    made = page(root)
    if "--check" in sys.argv:
        with open(path) as file:
            if file.read() != made:
                raise SystemExit(f"{PAGE} is not what bindings/guides/operators.py makes")
        return
    with open(path, "w") as file:
        file.write(made)


if __name__ == "__main__":
    main()
