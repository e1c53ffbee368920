# SPDX-License-Identifier: Apache-2.0
"""Reads C and C++ sources just far enough to measure them: which functions and classes
a file has, where each begins and ends, and how many parameters each function takes.

This is no compiler. It removes comments, literals and preprocessor lines, then follows
braces. It relies on the formatting tool's layout only for what it reports, never for
what it finds.
"""
import pathlib
import re
from dataclasses import dataclass

KEEP_LINES = re.compile(r"[^\n]")
NOISE = re.compile(
    r"//(?:\\\n|[^\n])*"  # line comment
    r"|/\*.*?\*/"  # block comment
    r'|R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.S,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\d[\w.']*|\S")
CONTROL = {"if", "for", "while", "switch", "catch", "do", "else", "try", "return", "case"}


@dataclass
class Function:
    file: str
    name: str
    first: int  # line of the first word of the signature
    last: int  # line of the closing brace; of the semicolon for a declaration
    parameters: int
    has_body: bool
    owner: str = ""  # the class whose member it is, where its body stands outside

    @property
    def lines(self):
        return self.last - self.first + 1


@dataclass
class Class:
    file: str
    name: str
    first: int
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1


def without_noise(text):
    """The text with comments, literals and directives blanked; lines stay where they are."""

    def blank(match):
        whole = match.group(0)
        if whole[0] in "\"'R":
            return '""' + "\n" * whole.count("\n")
        return KEEP_LINES.sub(" ", whole)

    text = NOISE.sub(blank, text)
    return DIRECTIVE.sub(lambda m: KEEP_LINES.sub(" ", m.group(0)), text)


def tokens_of(text):
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match.group(0), line


def matching(head, close):
    """Index of the bracket that the one at `close` closes."""
    depth = 0
    for i in range(close, -1, -1):
        word = head[i][0]
        if word in ")]}":
            depth += 1
        elif word in "([{":
            depth -= 1
            if depth == 0:
                return i
    return -1


def count_parameters(words):
    """How many parameters stand between two parentheses."""
    if not words or words == ["void"]:
        return 0
    depth = angle = 0
    count = 1
    for word in words:
        if word in ("(", "[", "{"):
            depth += 1
        elif word in (")", "]", "}"):
            depth -= 1
        elif word == "<":
            angle += 1
        elif word == ">" and angle > 0:
            angle -= 1
        elif word == "," and depth == 0 and angle == 0:
            count += 1
    return count


def without_template(head):
    """Without `template <...>` in front, whose arguments may have defaults."""
    while head and head[0][0] == "template":
        depth, end = 0, 0
        round_brackets = 0  # in them, < and > compare
        for end, (word, _) in enumerate(head):
            round_brackets += (word == "(") - (word == ")")
            if round_brackets == 0:
                depth += (word == "<") - (word == ">")
            if end > 0 and depth == 0:
                break
        head = head[end + 1 :]
    return head


def named_lambda(head):
    """(name, parameter count) of `auto NAME = [...](...)`, or None."""
    words = [w for w, _ in head]
    if "=" not in words or words[words.index("=") + 1 : words.index("=") + 2] != ["["]:
        return None
    at = words.index("=")
    if not re.fullmatch(r"[A-Za-z_]\w*", words[at - 1]) or "(" not in words[at:]:
        return None
    begin = words.index("(", at)
    depth, end = 0, begin
    for end in range(begin, len(words)):
        depth += (words[end] == "(") - (words[end] == ")")
        if depth == 0:
            break
    return words[at - 1], count_parameters(words[begin + 1 : end])


def signature(head):
    """(name, parameter count) when `head`, the words in front of a brace or a semicolon,
    declares a function; else None."""
    head = without_template(head)
    depth = 0
    for i, (word, _) in enumerate(head):
        if word == "(":
            if depth == 0:
                before = head[i - 1][0] if i else ""
                if before == "operator":  # operator(): the next parenthesis has them
                    depth += 1
                    continue
                name = before
                is_name = re.fullmatch(r"[A-Za-z_]\w*", before) is not None
                words = [w for w, _ in head[:i]]
                if "operator" in words:  # operator==, operator bool
                    name = "".join(words[words.index("operator"):])
                    is_name = True
                elif before in ("]", "=="):
                    is_name = True
                if not is_name or before in CONTROL:
                    return None
                if before in ("__attribute__", "alignas", "decltype", "static_assert"):
                    if before == "static_assert":
                        return None
                    depth += 1
                    continue
                close = i
                level = 0
                for j in range(i, len(head)):
                    if head[j][0] == "(":
                        level += 1
                    elif head[j][0] == ")":
                        level -= 1
                        if level == 0:
                            close = j
                            break
                else:
                    return None
                words = [w for w, _ in head[i + 1 : close]]
                if any(w == "=" for w, _ in head[:i]) and "operator" not in [
                    w for w, _ in head[:i]
                ]:
                    return None  # a variable and its value
                return name, count_parameters(words)
            depth += 1
        elif word == ")":
            depth -= 1
    return None


def owner_of(head, name):
    """The class in front of `::NAME(`, or nothing."""
    words = [w for w, _ in head]
    for i in range(2, len(words) - 1):
        if words[i] == name and words[i + 1] == "(" and words[i - 1] == "::":
            before = i - 2
            if words[before] == ">":  # a template's arguments
                depth = 0
                while before >= 0:
                    depth += (words[before] == ">") - (words[before] == "<")
                    before -= 1
                    if depth == 0:
                        break
            return words[before] if before >= 0 else ""
        if words[i] == "(":
            return ""
    return ""


def is_class(head):
    """The name of the class that a brace behind `head` opens, or None."""
    words = [w for w, _ in without_template(head)]
    if words[:1] == ["typedef"]:
        words = words[1:]
    if not words or words[0] not in ("class", "struct", "union"):
        return None
    if "(" in words and "alignas" not in words and ":" not in words:
        return None  # a function that returns one
    names = [w for w in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", w)]
    return names[0] if names else "(unnamed)"


def macros(file, text):
    """Those with parameters or several lines, as functions."""
    for found in DIRECTIVE.finditer(text):
        name = re.match(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]*)\))?", found.group(0))
        lines = found.group(0).count("\n")
        if name and (name.group(2) or lines):
            first = text.count("\n", 0, found.start()) + 1
            parameters = count_parameters(re.findall(r"\w+|,", name.group(3) or ""))
            yield Function(file, name.group(1), first, first + lines, parameters, True)


def measure(file, text):
    """([Function], [Class]) of one source."""
    functions, classes = list(macros(file, text)), []
    stack = []  # of ("scope" | "class" | "function" | "other", entry)
    head = []
    parentheses = 0

    def in_scope():
        return not stack or stack[-1][0] in ("scope", "class")

    for word, line in tokens_of(without_noise(text)):
        if not in_scope():
            if word == "{":
                stack.append(("other", None))
            elif word == "}":
                kind, entry = stack.pop()
                if entry is not None:
                    entry.last = line
                if kind == "other" and in_scope():
                    head.append(("{}", line))  # an initialiser: what follows belongs to it
                else:
                    head = [] if in_scope() else head
            continue
        if word in "([":
            parentheses += 1
        elif word in ")]":
            parentheses -= 1
        if parentheses > 0 and word in "{}":
            stack.append(("other", None)) if word == "{" else None
            continue
        if word == "{":
            words = [w for w, _ in head]
            name = is_class(head)
            if words[:1] in (["namespace"], ["extern"]) and "(" not in words or (
                words[:2] == ["inline", "namespace"]
            ):
                stack.append(("scope", None))
                head = []
                continue
            if name is not None:
                entry = Class(file, name, head[0][1], line)
                classes.append(entry)
                stack.append(("class", entry))
                head = []
                continue
            if words[:1] == ["catch"]:  # of a function whose body is a try block
                stack.append(("function", None))
                continue
            found = named_lambda(head) or signature(head)
            last = words[-1] if words else ""
            # A brace behind a member's name in a list of initialisers is no body.
            in_list = found and ":" in words and re.fullmatch(r"[A-Za-z_]\w*|>", last) and (
                words[words.index(":") - 1] == ")" and last not in ("const", "noexcept")
            )
            if found and not in_list and "enum" not in words:
                entry = Function(file, found[0], head[0][1], line, found[1], True,
                                 owner_of(head, found[0]))
                functions.append(entry)
                stack.append(("function", entry))
                continue
            stack.append(("other", None))
            continue
        if word == "}":
            if stack:
                _, entry = stack.pop()
                if entry is not None:
                    entry.last = line
            head = []
            continue
        if word == ";" and parentheses == 0:
            found = signature(head)
            words = [w for w, _ in head]
            if found and words[0] not in ("using", "typedef", "friend", "return"):
                functions.append(
                    Function(file, found[0], head[0][1], line, found[1], False)
                )
            head = []
            continue
        if word == ":" and [w for w, _ in head] in (["public"], ["private"], ["protected"]):
            head = []
            continue
        head.append((word, line))
    return functions, classes


def sources(root, folders, endings=(".h", ".hpp", ".c", ".cc")):
    """Paths below the folders, relative to the root, in a fixed order."""
    root = pathlib.Path(root)
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                yield path.relative_to(root).as_posix()
