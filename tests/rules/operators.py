#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that asks about an operator reads the operator's row in the table of its side.

  operators.py --root .      lists every switch over operator codes, every comparison by
                             order and every chain of comparisons outside the tables,
                             and each switch with a default, chain or comparison
                             by order over what rows say; fails when there is one
  operators.py --self-test   shows that each of them is found

Codes are only ever appended, so their order means nothing: "op >= SLUICE_OP_ADD" is
wrong as soon as a row is added. A switch lets a new operator fall into its default, and
so does a chain: two or more comparisons with codes in one expression list the operators
that share a property, which is a column of a table. However a question is written (one
comparison, ifs one below the other, a mask of shifted codes, a list that is searched), it names an
operator, so a source outside the tables names none. Nor does it say a code in another way: it
compares no `op` with a number (0 is no operator) or with a constant of its own, has no case in a
switch over an `op` (one that SLUICE_OPS writes has each code), shifts no mask by an `op` and
looks up nothing at an `op`. What hides the code in a variable of another name is not found.
NAMED lists the sources that make a layer and must say of which operator, with the reason.
Importers, training and the zoo make graphs: what they build names the operators, so the rules of
this paragraph pass them over.

The columns of rows are enums of the tables' headers. A switch over one of them names every
value and has no default: a new value then does not compile until each switch has it. Some
of them nearly name the operator: a chain of comparisons with their values is a column in
disguise, and their order means nothing either.

bindings/targets is not read. What a target executes is what its accelerator has: a few operators,
which its descriptor names, so that all others are planned for the host; code for any other in a
stream is refused with a sentence. A new operator is no question there: the default is right.
"""
import argparse
import pathlib
import re
import sys

from sources import sources, without_noise

# The tables: one for each side that must not share code.
TABLES = ("src/model/ops/", "src/verify/op_rules", "firmware-sim/ops.")
COLUMNS = ("src/model/ops/traits.h", "src/verify/op_rules.h", "firmware-sim/ops.h")
FINE = ("Form", "Deed", "Means", "Slide")  # columns that nearly name the operator
MAKERS = ("src/import/", "src/zoo/")  # of graphs
NAMED = {  # source: (the operator that it names, why)
    "src/cli/map_layers.cc": ("SLUICE_OP_BATCH_MATMUL", "makes the layer that a user describes"),
    "src/cli/host_products.cc": ("SLUICE_OP_OPAQUE", "reads the names of functions of the host"),
    "src/model/host.cc": ("SLUICE_OP_OPAQUE", "a layer becomes one that the host executes"),
}
NUMBER = re.compile(r"\b(?:op|operator_code)\s*(?:[=!]=|[<>]=?)\s*[1-9]|"
                    r"\b[1-9]\d*u?\s*(?:[=!]=|[<>]=?)\s*(?:\w+(?:\.|  ))*op\b")
OP = (r"(?:static_cast<\w+>\(\s*|\w+\{\s*|\(\s*)?"
      r"(?:\w+(?:\[\w*\])?(?:\.|->))*\b(?:op|operator_code)\b")
ELSEWISE = (  # ways to say a code without its name
    (re.compile(r"(?<![.>])\b(?:\w+(?:\.|->))*(?:op|operator_code)\s*[=!]=\s*(?:\w+::)*k[A-Z]\w*|"
                r"\bk[A-Z]\w*\s*[=!]=\s*" + OP), "a code is compared with a constant"),
    (re.compile(r"\b\d\w*\s*<<\s*" + OP + r"|>>\s*" + OP), "a mask is shifted by a code"),
    (re.compile(r"\[\s*" + OP + r"\s*[)}]?\s*(?:\]|<(?!<))"), "something is looked up at a code"),
)
OVER_OP = re.compile(r"\bswitch\s*\(\s*" + OP + r"\s*[)}]?\s*\)")
POSITIONS = {  # folder: why an `op` there is no code
    "src/solve/placement/spill/": "an operator's position in the order of work",
}
CODE = re.compile(r"\bSLUICE_OP_(?!COUNT\b|ENUM\b)[A-Z]\w*")
CASE = re.compile(r"\bcase\s+SLUICE_OP_(\w+)")
ORDER = re.compile(r"[<>]=?\s*SLUICE_OP_(?!COUNT)(\w+)|\bSLUICE_OP_(?!COUNT)(\w+)\s*[<>]=?")
EQUAL = re.compile(
    r"[=!]=\s*SLUICE_OP_(?!COUNT)(\w+)|\bSLUICE_OP_(?!COUNT)(\w+)\s*[=!]="
)
EXPRESSION = re.compile(r"[^;{}]+")
ENUM = re.compile(r"\benum class (\w+)[^{]*\{(.*?)\};", re.S)
SWITCH = re.compile(r"\bswitch\s*\(")
LABEL = re.compile(r"\bcase\s+(?:\w+::)*?(\w+)::(\w+)\s*:")
VALUE = r"(?:\w+::)*?\b(" + "|".join(FINE) + r")::(\w+)"
ASKED = re.compile(r"[=!]=\s*" + VALUE + "|" + VALUE + r"\s*[=!]=")
ABOVE = re.compile(r"[<>]=?\s*" + VALUE + "|" + VALUE + r"\s*[<>]=?")


def columns_of(text):
    """The enums of a row: {name: values}."""
    return {m.group(1): set(re.findall(r"\bk\w+", m.group(2)))
            for m in ENUM.finditer(without_noise(text))}


def body_of(text, at):
    """The text between the first brace behind `at` and the one that closes it."""
    begin, depth = text.index("{", at), 0
    for end in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin + 1 : end]
    return text[begin + 1 :]


def open_switches_of(path, text, columns):
    for switch in SWITCH.finditer(text):
        body = body_of(text, switch.end())
        asked = {e for e, value in LABEL.findall(body) if value in columns.get(e, ())}
        if asked and re.search(r"\bdefault\s*:", body):
            line = text.count("\n", 0, switch.start()) + 1
            yield f"{path}:{line}: a switch over {', '.join(sorted(asked))} has a default"


def values_in(pattern, text, columns):
    """Values of fine columns that the pattern finds, as they are written."""
    for match in pattern.finditer(text):
        column, value = (g for g in match.groups() if g)
        if value in columns.get(column, ()):
            yield f"{column}::{value}"


def column_lists_of(path, text, columns):
    for expression in EXPRESSION.finditer(text):
        line = text.count("\n", 0, expression.end()) + 1
        values = list(values_in(ASKED, expression.group(0), columns))
        if len(values) > 1:
            yield f"{path}:{line}: {', '.join(values)}: a chain"
        for value in values_in(ABOVE, expression.group(0), columns):
            yield f"{path}:{line}: {value}: a comparison by order"


def chains_of(path, text):
    for expression in EXPRESSION.finditer(text):
        matches = list(EQUAL.finditer(expression.group(0)))
        if len(matches) > 1:
            first = expression.start() + matches[0].start()
            names = ", ".join("SLUICE_OP_" + (m.group(1) or m.group(2)) for m in matches)
            yield f"{path}:{text.count(chr(10), 0, first) + 1}: {names}: a chain"


def named_of(path, text, named):
    """Complaints where a source outside the tables names an operator, or a number of one."""
    if path.startswith(MAKERS):
        return
    text = without_noise(text).replace("->", "  ").replace("<<", "  ").replace(">>", "  ")
    allowed, why = named.get(path, ("", ""))
    names = set(CODE.findall(text))
    for name in sorted(names - {allowed if why else ""}):
        yield f"{path}: {name}: an operator is named outside the tables"
    if allowed and allowed not in names:
        yield f"{path}: {allowed} is not named: its row of NAMED is stale"
    for found in NUMBER.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield f"{path}:{line}: {found.group(0)}: a code is compared with a number"


def said_elsewise(path, text):
    """Complaints where a source outside the tables says a code without its name."""
    if path.startswith(MAKERS + tuple(POSITIONS)):
        return
    text = without_noise(text)
    for pattern, what in ELSEWISE:
        for found in pattern.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: {found.group(0)}: {what}"
    for switch in OVER_OP.finditer(text):
        if re.search(r"\bcase\b", body_of(text, switch.end())):
            line = text.count("\n", 0, switch.start()) + 1
            yield f"{path}:{line}: {switch.group(0)}: a case of a switch over codes"


def complaints_of(path, text, columns):
    text = without_noise(text).replace("->", "  ").replace("<<", "  ").replace(">>", "  ")
    for pattern, what in ((CASE, "a case of a switch"), (ORDER, "a comparison by order")):
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = next(group for group in match.groups() if group)
            yield f"{path}:{line}: SLUICE_OP_{name}: {what}"
    yield from chains_of(path, text)
    yield from open_switches_of(path, text, columns)
    yield from column_lists_of(path, text, columns)


def self_test():
    expected = (
        ("switch (op) {\n  case SLUICE_OP_ADD: return 1;\n}\n", 1),
        ("// case SLUICE_OP_ADD:\nconst char* s = \"case SLUICE_OP_ADD:\";\n", 0),
        ("if (op >= SLUICE_OP_ADD && op <= SLUICE_OP_MUL) {}\n", 2),
        ("if (op >= SLUICE_OP_COUNT || SLUICE_OP_ADD == op) {}\n", 0),
        ("if (SLUICE_OP_ADD < op) {}\n", 1),
        ("return op == SLUICE_OP_ADD ||\n       SLUICE_OP_MUL == op;\n", 1),
        ("pass = op != SLUICE_OP_ADD && op != SLUICE_OP_MUL;\n", 1),
        ("x = op == SLUICE_OP_ADD ? 1 : op == SLUICE_OP_SUB ? 2 : 3;\n", 1),
        ("if (op == SLUICE_OP_ADD) return a;\nif (op == SLUICE_OP_MUL) return b;\n", 0),
        ("bool known = op != SLUICE_OP_COUNT && op == SLUICE_OP_ADD;\n", 0),
        ("std::vector<Row> rows = {{SLUICE_OP_ADD, 2}, {SLUICE_OP_MUL, 2}};\n", 0),
        ("switch (f) {\n  case Form::kConv: return 1;\n  default: return 0;\n}\n", 1),
        ("switch (f) {\n  case Form::kConv: case Form::kPool: return 1;\n}\n", 0),
        ("switch (n) {\n  case 1: { return 1; }\n  default: return 0;\n}\n", 0),
        ("switch (f) {\n  case Form::kHeld: return 1;\n  default: return 0;\n}\n", 0),
        ("return f == Form::kConv ||\n       Form::kPool == f;\n", 1),
        ("return f < Form::kPool && g > 1;\n", 1),
        ("return d == Deed::kPad || d == Deed::kSlice;\n", 1),
        ("return f != model::Form::kConv && g != Form::kHeld;\n", 0),
        ("if (f == Form::kConv) return a;\nif (f == Form::kPool) return b;\n", 0),
    )
    columns = columns_of("enum class Form : uint8_t {\n  kConv,  // kNot\n  kPool,\n};\n"
                         "enum class Deed { kPad, kSlice };\n")
    if columns != {"Form": {"kConv", "kPool"}, "Deed": {"kPad", "kSlice"}}:
        sys.exit(f"self-test: the columns are {columns}")
    for text, want in expected:
        found = list(complaints_of("a.cc", text, columns))
        if len(found) != want:
            sys.exit(f"self-test: {want} expected, found {found} in\n{text}")
    named = {"src/plan/a.cc": ("SLUICE_OP_ADD", "it makes sums")}
    several = (
        ("if (op == SLUICE_OP_ADD) return 1;\nif (op == SLUICE_OP_SUB) return 2;\n", 1),
        ("return (1ull << SLUICE_OP_ADD | 1ull << SLUICE_OP_SUB) >> op & 1;\n", 1),
        ("const int kOps[] = {SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL};\n", 2),
        ("layer.op = SLUICE_OP_ADD;\nreturn op < SLUICE_OP_COUNT;\n", 0),
        ("// SLUICE_OP_ADD\nreturn op == SLUICE_OP_SUB;\n", 2),  # and the row is stale
        ("x.op = SLUICE_OP_ADD;\nreturn layer->op == 12 || 3 < graph->layer.op;\n", 2),
        ("x.op = SLUICE_OP_ADD;\nreturn layer.op == other.op && stop == 1 && top > 2;\n", 0),
    )
    for text, want in several:
        for path, complaints in (("src/plan/a.cc", want), ("src/zoo/a.cc", 0)):
            found = list(named_of(path, text, named))
            if len(found) != complaints:
                sys.exit(f"self-test: {complaints} expected, found {found} in\n{text}")
    for path, rows in (("src/plan/b.cc", named), ("src/plan/b.cc", {"src/plan/b.cc": (
            "SLUICE_OP_ADD", "")})):
        if len(list(named_of(path, "return op == SLUICE_OP_ADD;\n", rows))) != 1:
            sys.exit(f"self-test: a comparison without a reason passes: {rows}")
    elsewise = (
        ("switch (layer.op) {\n  case 12: return 1;\n}\n", 1),
        ("switch (static_cast<int>(graph->layers[l].op)) {\n  case kAdd: return 1;\n}\n", 1),
        ("switch (op) {\n#define ROW(c, code, n) \\\n  case code: return n;\n"
         "  SLUICE_OPS(ROW)\n  default: return 0;\n}\n", 0),
        ("switch (step.opcode) {\n  case 12: return 1;\n}\n", 0),
        ("return layer.op == kAdd || l->op != sluice::kSub;\n", 2),
        ("return kAdd == graph.layers[l].op;\n", 1),
        ("if (row.field[kOpOperator] != layer.op) return;\n", 0),
        ("return (1ull << layer.op & 0x1f00) != 0;\n", 1),
        ("return (kSums >> layer.op) & 1;\nreturn 1u << static_cast<int>(l->op);\n", 2),
        ("std::cout << layer.op << '\\n';\nreturn 1u << stop;\n", 0),
        ("return kSums[layer.op];\n", 1),
        ("return kSums[static_cast<size_t>(l.op)];\nreturn k[op < n ? op : 0];\n", 2),
        ("return operators[l.stop];\n", 0),
    )
    for text, want in elsewise:
        for path, complaints in (("src/plan/a.cc", want), ("src/zoo/a.cc", 0)):
            found = list(said_elsewise(path, text))
            if len(found) != complaints:
                sys.exit(f"self-test: {complaints} expected, found {found} in\n{text}")
    print(f"{len(expected) + len(several) + len(elsewise)} sources judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root, seen, bad = pathlib.Path(arguments.root), 0, []
    columns = {}
    for header in COLUMNS:
        columns.update(columns_of((root / header).read_text(encoding="utf-8")))
    for path in sources(root, ("src", "firmware-sim")):
        seen += 1
        if not path.startswith(TABLES):
            text = (root / path).read_text(encoding="utf-8")
            bad += complaints_of(path, text, columns)
            bad += named_of(path, text, NAMED)
            bad += said_elsewise(path, text)
    if seen < 100 or any(len(columns.get(c, ())) < 8 for c in FINE) or not all(any(root.glob(t + "*")) for t in TABLES):
        sys.exit(f"{seen} sources, or a table is not where this rule looks for it")
    bad += [f"POSITIONS: {p} is not there" for p in POSITIONS if not (root / p).is_dir()]
    bad += [f"NAMED: {path} is not there" for path in NAMED if not (root / path).exists()]
    print("\n".join(bad + [f"{seen} sources, {len(bad)} complaints"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
