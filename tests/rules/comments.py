#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public name has a comment directly above it or beside it that says something.

  comments.py HEADER_FOLDER...  *.h, *.fbs and *.hpp below them
  comments.py --self-test       shows that a missing comment is found

Looked at: functions, structs, opaque types, function types, fields, enums and macros of C
headers; tables, structs and fields of schemas. A comment above belongs to the declaration
that starts on the next line; a comment beside starts on a line of the declaration. Fields
named struct_size and reserved are explained once, at the head of sluice.h. Each enumerator has a
comment of its own; those of ops.h are explained by the text above their enum, which has the
formula that they belong to.

A comment without a word, that only points elsewhere in the page ("see above", "alike"), that has
no word but those of the name ("the extent" of `extent`), or that is a value alone ("0", "0: 1")
says nothing.

Of C++ headers: classes and their public functions, outside of namespace detail. Without a comment
may stand constructors and operators; functions that call the C function which explains them;
setters of a struct that is a struct of C, whose field explains them; and functions of a class
whose comment says that it is as one of std.
"""
import pathlib
import re
import sys

POINTER = re.compile(r"((see|as|like|the)\s+)?(above|below|before|alike|likewise|same|ditto|todo)",
                     re.I)
NAMES = re.compile(r"\w*_\w*(\.\w+)?(, \w*_\w*(\.\w+)?)*(: bits)?")
EXPLAINED_ONCE = re.compile(r"^(struct_size|reserved\d*)$")


def comment_spans(text, is_schema):
    pattern = r"//[^\n]*" if is_schema else r"/\*.*?\*/"
    return [m.span() for m in re.finditer(pattern, text, re.S if not is_schema else 0)]


def words_of(comment):
    """Without the signs around and between its lines."""
    lines = re.sub(r"^/[*/]+|\*+/$", "", comment.strip()).splitlines()
    return " ".join(re.sub(r"^\s*(\*|//)", "", line).strip() for line in lines).strip(" .:;,")


def says_something(comment):
    words = words_of(comment)
    return re.search(r"[^\W_]", words) is not None and not POINTER.fullmatch(words)


EMPTY = {"a", "an", "the", "of", "this", "its", "is", "for", "sluice", "t"}


def stems(text):
    """Words without an ending of the plural or of the third person."""
    return {word[:-1] if word.endswith("s") else word
            for word in re.findall(r"[a-z]+|\d+", text.lower()) if word not in EMPTY}


def only_repeats(comment, name):
    """A comment that names a type or an enum says more than the name of the field."""
    return "_" not in comment and stems(comment) <= stems(name)


def only_a_value(comment, name):
    """Besides the name: no word of three letters and no two shorter ones ("0", "0: 1")."""
    words = re.findall(r"[a-z]+", comment.lower())
    more = [word for word in words if len(word) > 1 and
            (word[:-1] if word.endswith("s") else word) not in stems(name)]
    return len(more) < 2 and not any(len(word) > 2 for word in more)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Page:
    """A header whose comments are blanked out, and the lines that have comments."""

    def __init__(self, text, is_schema=False):
        self.code = text
        self.above = set()   # lines on which a comment ends and no code stands
        self.beside = set()  # lines on which a comment starts behind code
        self.names = set()   # of these those whose comment is names and no more
        self.said = {}       # line: what its comment says
        for begin, end in comment_spans(text, is_schema):
            blank = re.sub(r"[^\n]", " ", text[begin:end])
            self.code = self.code[:begin] + blank + self.code[end:]
            if not says_something(text[begin:end]):
                continue
            line_begin = text.rfind("\n", 0, begin) + 1
            beside = text[line_begin:begin].strip() != ""
            at = line_of(text, begin if beside else end - 1)
            # Of comments by //, each line is one: what stands above goes on in it.
            before = self.said.get(at - 1, "") if is_schema and not beside else ""
            self.said[at] = before + " " + words_of(text[begin:end])
            if NAMES.fullmatch(words_of(text[begin:end])):
                self.names |= {line_of(text, begin), line_of(text, end - 1)}
            if beside:
                self.beside.add(line_of(text, begin))
            else:
                self.above.add(line_of(text, end - 1))

    def has_comment(self, begin, end, name):
        """Of the declaration code[begin:end] of this name."""
        first, last = line_of(self.code, begin), line_of(self.code, end - 1)
        lines = [line for line in range(first, last + 1) if line in self.beside]
        lines += [first - 1] if first - 1 in self.above else []
        return any(not only_repeats(self.said[line], name) and
                   not only_a_value(self.said[line], name) for line in lines)


def statements(page, begin, end):
    """(begin, end) of every `...;` of code[begin:end] that is not inside braces."""
    depth, start = 0, None
    for at in range(begin, end):
        c = page.code[at]
        if start is None and not c.isspace():
            start = at
        if c in "{(":
            depth += 1
        elif c in "})":
            depth -= 1
        elif c == ";" and depth == 0:
            yield start, at + 1
            start = None


def bare_enumerators(page, begin, end):
    """(line, name) of the enumerators of code[begin:end] without a comment, and how many
    have one."""
    brace = page.code.index("{", begin)
    bare, commented = [], 0
    for item in re.finditer(r"\b(SLUICE_\w+)[^,}]*(,|\})", page.code[brace:end]):
        first = line_of(page.code, brace + item.start())
        last = line_of(page.code, brace + item.end() - 1)
        head = line_of(page.code, brace)
        has = (first - 1 in page.above or
               any(l in page.beside and l != head for l in range(first, last + 1)))
        commented += has
        if not has:
            bare.append((first, item.group(1)))
    return bare, commented


def names_of(field):
    function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", field)
    if function:
        return [function.group(1)]
    return re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:,|;)", field)


def check_c(text, strict=True):
    """(public names, [(line, name)] without a comment); strict: of each enumerator too"""
    page = Page(text)
    page.code = re.sub(r'extern "C" \{|^\}$', lambda m: " " * len(m.group()), page.code,
                       flags=re.M)
    missing, count = [], 0
    macros = re.finditer(r"^#define (SLUICE_\w+)(?!\w)[^\n]*(?:\\\n[^\n]*)*", page.code, re.M)
    for macro in macros:
        name = macro.group(1)
        if re.fullmatch(r"SLUICE_\w+_H_|SLUICE_(OP|DTYPE)_ENUM", name):
            continue
        if name.endswith("API"):  # one for each system, under one comment
            continue
        count += 1
        if not page.has_comment(*macro.span(), name):
            missing.append((line_of(text, macro.start()), name))
    page.code = re.sub(r"^#[^\n]*(?:\\\n[^\n]*)*",
                       lambda m: re.sub(r"[^\n]", " ", m.group()), page.code, flags=re.M)
    for begin, end in statements(page, 0, len(page.code)):
        code = page.code[begin:end]
        brace = code.find("{")
        head_end = begin + brace + 1 if brace >= 0 else end
        found = (re.search(r"SLUICE_(?:\w+_)?API[^(]*?\b(\w+)\(", code) or
                 re.search(r"\}\s*(\w+)\s*;$", code) or
                 re.search(r"^typedef [^;{]*?\(\*(\w+)\)", code) or
                 re.search(r"^typedef [^;{]*?\b(\w+);$", code))
        name = found.group(1) if found else re.sub(r"\s+", " ", code)[:40]
        count += 1
        commented = page.has_comment(begin, head_end, "" if code.startswith("enum") else name)
        if code.startswith("enum"):
            head = line_of(page.code, begin)
            explained = head in page.beside - page.names or head - 1 in page.above - page.names
            bare, own = bare_enumerators(page, begin, end)
            if bare and (strict or ((own > 0 or commented) and not explained)):
                missing += bare
            commented = commented or not bare
        if not commented:
            missing.append((line_of(text, begin), name))
        if brace < 0 or code.startswith("enum"):
            continue
        for b, e in statements(page, begin + brace + 1, begin + code.rfind("}")):
            for field in names_of(page.code[b:e]):
                if EXPLAINED_ONCE.match(field):
                    continue
                count += 1
                if not page.has_comment(b, e, field):
                    missing.append((line_of(text, b), name + "." + field))
    return count, missing


def check_schema(text):
    page = Page(text, is_schema=True)
    missing, count = [], 0
    for item in re.finditer(r"^(table|struct) (\w+) \{(.*?)\}", page.code, re.M | re.S):
        count += 1
        if not page.has_comment(item.start(), item.start(3), item.group(2)):
            missing.append((line_of(text, item.start()), item.group(2)))
        for begin, end in statements(page, item.start(3), item.end(3)):
            count += 1
            field = page.code[begin:end].split(":")[0]
            if not page.has_comment(begin, end, field):
                missing.append((line_of(text, begin), item.group(2) + "." + field))
    return count, missing


CLASS = re.compile(r"^( *)(?:template <[^\n]*>\n *)?(class|struct) "
                   r"(?:\[\[\w+\]\] )?(\w+)([^;{]*)\{", re.M)


def closing(code, at):
    """Behind the brace that closes the one at code[at]."""
    depth = 0
    for end in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        if depth == 0:
            return end + 1
    return len(code)


def members(code, begin, end, indent, public):
    """(begin, name) of the public functions that code[begin:end], a class, defines."""
    line = re.compile(rf"^{indent} (public|private|protected):"
                      rf"|^{indent}  (?:template <[^\n]*>\n{indent}  )?(?! |using|explicit|return)"
                      r"[\w:<>&*,\[\] ]* [&*]?(?<!operator )\b(\w+)\(", re.M)
    for found in line.finditer(code, begin, end):
        if found.group(1):
            public = found.group(1) == "public"
        elif public:
            yield found.start(), found.group(2)


def check_cpp(text):
    page = Page(text, is_schema=True)
    page.code = re.sub(r"^namespace detail \{.*?^\}",
                       lambda m: re.sub(r"[^\n]", " ", m.group()), page.code, flags=re.M | re.S)
    missing, count = [], 0
    for item in CLASS.finditer(page.code):
        indent, kind, name, bases = item.groups()
        end = closing(page.code, item.end() - 1)
        said = page.said.get(line_of(text, item.start()) - 1, "")
        count += 1
        if not page.has_comment(item.start(), item.end(), name):
            missing.append((line_of(text, item.start()), name))
        for begin, function in members(page.code, item.end(), end, indent, kind == "struct"):
            brace = page.code.index("{", begin)
            body = page.code[brace:closing(page.code, brace)]
            explained = (re.search(r"\bsluice_(?!\w+_t\b)\w+[(,)]", body) or "std::" in said or
                         ("sluice_" in bases and "return *this" in body))
            count += 1
            if not explained and not page.has_comment(begin, brace, function):
                missing.append((line_of(text, begin), name + "." + function))
    return count, missing


def test_c():
    good = """/* Two ends of a range. */
typedef struct sluice_pair {
  uint32_t struct_size;
  int32_t a; /* the first, in bytes */
  /* The second and the third. */
  int32_t b,
      c;
} sluice_pair_t;
/* The sum of both. */
SLUICE_API int sluice_add(int a,
                          int b);
enum { /* kinds */
  SLUICE_A = 0, /* the one */
  /* Not the one. */
  SLUICE_B = 1
};
enum { /* sluice_pair_t.a */
  SLUICE_NEAR = 0, /* here */
  SLUICE_FAR = 1   /* not here */
};
/* How many. */
#define SLUICE_COUNT 3
"""
    assert check_c(good) == (8, []), check_c(good)
    for comment, name in (("/* Two ends of a range. */", "sluice_pair_t"),
                          (" /* the first, in bytes */", "sluice_pair_t.a"),
                          ("  /* The second and the third. */", "sluice_pair_t.b"),
                          ("/* The sum of both. */", "sluice_add"),
                          ("/* How many. */", "SLUICE_COUNT"),
                          (" /* the one */", "SLUICE_A"), ("  /* Not the one. */", "SLUICE_B"),
                          (" /* here */", "SLUICE_NEAR"), ("/* not here */", "SLUICE_FAR")):
        assert comment in good
        for nothing in ("", "/* */", "/* . */", "/* See above. */", "/* alike */"):
            missing = [n for _, n in check_c(good.replace(comment, nothing))[1]]
            assert name in missing, (name, nothing, missing)
    for comment, name, again in (
            ("/* Two ends of a range. */", "sluice_pair_t", "/* A pair. */"),
            ("/* The sum of both. */", "sluice_add", "/* Adds. */"),
            ("/* the first, in bytes */", "sluice_pair_t.a", "/* this a */"),
            ("/* How many. */", "SLUICE_COUNT", "/* The count. */"),
            ("/* the first, in bytes */", "sluice_pair_t.a", "/* x */"),
            ("/* the first, in bytes */", "sluice_pair_t.a", "/* 0 */"),
            ("/* the first, in bytes */", "sluice_pair_t.a", "/* 0: 1 */"),
            ("/* the first, in bytes */", "sluice_pair_t.a", "/* > 0 */"),
            ("/* The sum of both. */", "sluice_add", "/* Is 10. */")):
        missing = [n for _, n in check_c(good.replace(comment, again))[1]]
        assert missing == [name], (again, missing)
    formula = "/* What B does to A. */\nenum {\n  SLUICE_A = 0,\n  SLUICE_B = 1\n};\n"
    assert [n for _, n in check_c(formula)[1]] == ["SLUICE_A", "SLUICE_B"]
    assert check_c(formula, strict=False)[1] == []
    assert [n for _, n in check_c(formula[formula.index("enum"):], strict=False)[1]] != []
    apart = good.replace("/* The sum of both. */\n", "/* The sum of both. */\n\n")
    assert [n for _, n in check_c(apart)[1]] == ["sluice_add"]


def test_cpp():
    cpp = """// Two ends.
class Pair : public Owned {
 public:
  Pair() = default;
  // The first one.
  int first() const { return a_; }
  int last() const { return sluice_last(get()); }

 private:
  int Hidden() { return a_; }
};
// As std::pair.
struct Plain {
  int size() const { return 2; }
};
// What may be set.
struct Options : sluice_options_t {
  Options& Seed(int value) {
    seed = value;
    return *this;
  }
};
"""
    assert check_cpp(cpp) == (7, []), check_cpp(cpp)
    for found, changed, name in (
            ("// Two ends.", "", "Pair"), ("// The first one.", "// 0", "Pair.first"),
            ("sluice_last(get())", "a_", "Pair.last"), (" private:", " public:", "Pair.Hidden"),
            ("As std::pair.", "Two numbers.", "Plain.size"),
            (": sluice_options_t", "", "Options.Seed")):
        missing = [n for _, n in check_cpp(cpp.replace(found, changed))[1]]
        assert missing == [name], (changed, missing)


def test_schema():
    schema = "// One memory.\ntable Level {\n  banks:uint = 1 (id: 7); // of it\n}\n"
    assert check_schema(schema) == (2, [])
    assert check_schema(schema.replace("// of it", ""))[1] == [(3, "Level.banks")]
    assert check_schema(schema.replace("// One memory.", ""))[1] == [(2, "Level")]


def self_test():
    test_c()
    test_cpp()
    test_schema()
    print("a missing comment is found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    total, bad = 0, 0
    checks = {".h": check_c, ".fbs": check_schema, ".hpp": check_cpp}
    paths = [path for folder in sys.argv[1:] for path in sorted(pathlib.Path(folder).rglob("*"))
             if path.suffix in checks]
    for path in paths:
        check = checks[path.suffix]
        text = path.read_text(encoding="utf-8")
        # Attributes are explained by the formulas above their enums.
        formulas = path.name == "ops.h"
        count, missing = check_c(text, strict=False) if formulas else check(text)
        total += count
        bad += len(missing)
        for line, name in missing:
            print(f"{path}:{line}: {name}: no comment above it or beside it")
    print(f"{total} public names, {bad} without a comment")
    sys.exit(bad != 0 or total < 500)


main()
