# SPDX-License-Identifier: Apache-2.0
"""Finds pieces of code that stand twice.

  duplicates.py --root .      fails when src has more of them than MOST
  duplicates.py               shows on small sources which pieces count

MOST may only fall: the rule also fails when it has become too high by more than a block, so
that it follows what is taken out. figures.py --duplicates lists the blocks.

The rows of the tables of operators (TABLES) do not count: an operator that differs from another
one in its formula alone has the same row, so that what is asked of it stands in one place. Code
around the rows counts. The simulator's table is not in src, so nothing counts it.

Input    sources with their text
Output   blocks of at least WINDOW equal tokens; comments, directives and the layout do not
         count, names and literals do
Cost     linear in the tokens, but for very common windows

Every token belongs to one block at most: a piece that stands three times makes two blocks.
"""
import argparse
import pathlib
import re
from dataclasses import dataclass

from sources import sources

WINDOW = 60
MOST = 1663  # tokens of src that stand a second time
TABLES = {  # source: the array whose rows, one per operator, may be equal
    "src/model/ops/traits.cc": "kRows",
    "src/verify/op_rules.cc": "kRules",
    "src/import/unread_pixels.cc": "kRows",
    "src/import/training/training.cc": "kRows",
}
NOISE = re.compile(
    r'(?P<literal>R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*")'
    r"|//(?:\\\n|[^\n])*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*",
    re.S | re.M,
)
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[A-Za-z_]\w*|::|->|\d[\w.]*|\S')


@dataclass
class Block:
    file: str
    line: int
    earlier_file: str
    earlier_line: int
    tokens: int


def tokens_of(text):
    """([token], [line of each])."""

    def blank(match):
        if match.group("literal"):
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    text = NOISE.sub(blank, text)
    words, lines = [], []
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        words.append(match.group(0))
        lines.append(line)
    return words, lines


def without_rows(file, text, tables):
    """The text with one literal, which stands nowhere else, for the rows of its table."""
    if file not in tables:
        return text
    array = re.compile(r"(\b" + tables[file] + r"\[\] = \{\n)(.*?)(?=^\};)", re.S | re.M)
    text, found = array.subn(
        lambda m: m.group(1) + f'"rows of {file}"' + "\n" * m.group(2).count("\n"), text)
    if found != 1:
        raise SystemExit(f"{file}: {found} tables {tables[file]}, one expected: TABLES is stale")
    return text


def texts_of(root):
    """{source: text} of src, without the rows of tables."""
    texts = {p: (root / p).read_text(encoding="utf-8") for p in sources(root, ("src",))}
    absent = [file for file in TABLES if file not in texts]
    if absent:
        raise SystemExit(f"TABLES: {absent} are not there")
    return {p: without_rows(p, text, TABLES) for p, text in texts.items()}


def equal_from(a, i, b, j):
    """How many tokens are equal from a[i] and b[j] on, without an overlap of the two."""
    most = min(len(a) - i, len(b) - j)
    if a is b:
        most = min(most, i - j)
    n = 0
    while n < most and a[i + n] == b[j + n]:
        n += 1
    return n


def duplicates(texts):
    """[Block] of {file: text}, in the order of the files."""
    seen = {}  # window -> where it stood first, and next
    tokens, blocks = {}, []
    for file, text in texts.items():
        words, lines = tokens_of(text)
        tokens[file] = words, lines
        i = 0
        while i + WINDOW <= len(words):
            window = tuple(words[i : i + WINDOW])
            places = seen.setdefault(hash(window), [])
            best, place = 0, None
            for other, j in places:
                n = equal_from(words, i, tokens[other][0], j)
                if n > best:
                    best, place = n, (other, j)
            if best >= WINDOW:
                other, j = place
                blocks.append(Block(file, lines[i], other, tokens[other][1][j], best))
                i += best
            else:
                places.append((file, i))
                i += 1
    return blocks


def self_test():
    piece = "".join(f"  a{i} = b{i} + {i};\n" for i in range(10))  # 60 tokens
    short = "".join(f"  a{i} = b{i} + {i};\n" for i in range(9))
    named = piece.replace("a5", "a_five")
    cases = (
        ({"a.cc": piece, "b.cc": "// other\n" + piece}, 1),
        ({"a.cc": piece, "b.cc": piece.replace("\n", " /* here */\n\n")}, 1),
        ({"a.cc": piece, "b.cc": named}, 0),
        ({"a.cc": short, "b.cc": short}, 0),
        ({"a.cc": "int f() {\n" + piece + "}\nint g() {\n" + piece + "}\n"}, 1),
        ({"a.cc": piece, "b.cc": piece, "c.cc": piece}, 2),
        ({"a.cc": "x;" * 59}, 0),
    )
    for texts, want in cases:
        found = duplicates(texts)
        if len(found) != want:
            raise SystemExit(f"self-test: {want} expected, found {found} in {texts}")
    rows = "".join(f"    {{kOp{i}, {', '.join(['kSame'] * 40)}}},\n" for i in range(3))
    table = f"constexpr Row kRows[] = {{\n{rows}}};\n"
    code = "int f() {\n" + piece + "}\n"
    tables = (
        ({"a.cc": table}, 0),  # equal rows in a table
        ({"b.cc": table}, 2),  # the same rows where no table is
        ({"a.cc": table + code, "b.cc": code}, 1),  # code behind the table
        ({"a.cc": table + code + code.replace("f", "g")}, 1),
    )
    for texts, want in tables:
        found = duplicates({f: without_rows(f, t, {"a.cc": "kRows"}) for f, t in texts.items()})
        if len(found) != want:
            raise SystemExit(f"self-test: {want} expected, found {found} in {texts}")
    try:
        without_rows("a.cc", code, {"a.cc": "kRows"})
    except SystemExit:
        pass
    else:
        raise SystemExit("self-test: a table that is not there passes")
    judged = [bool(complaint(tokens, 500)) for tokens in (501, 500, 441, 440)]
    if judged != [True, False, False, True]:
        raise SystemExit(f"self-test: the ceiling of 500 judges {judged}")
    print(f"{len(cases) + len(tables)} groups of sources judged as expected")


def complaint(tokens, most):
    """What is wrong with so many tokens that stand twice; "" when nothing is."""
    if tokens > most:
        return f"above {most}: what stands twice should stand once (figures.py --duplicates)"
    if tokens + WINDOW <= most:
        return f"less than the {most} of MOST: write the number there"
    return ""


def check(root):
    texts = texts_of(root)
    blocks = duplicates(texts)
    tokens = sum(block.tokens for block in blocks)
    wrong = complaint(tokens, MOST)
    print(f"{len(blocks)} blocks, {tokens} tokens stand in src a second time; at most {MOST}")
    if wrong or len(texts) < 100:
        raise SystemExit(wrong or f"{len(texts)} sources")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path)
    root = parser.parse_args().root
    if root is None:
        self_test()
    else:
        check(root)


if __name__ == "__main__":
    main()
