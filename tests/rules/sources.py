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


def is_name(word):
    return re.fullmatch(r"[A-Za-z_]\w*", word) is not None


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


def closing(tokens, at):
    """Index of the bracket that closes the one at `at`, or -1."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i][0] in "([{") - (tokens[i][0] in ")]}")
        if depth == 0:
            return i
    return -1


def body_of_lambda(tokens, at):
    """Index of the brace that opens the body of a lambda whose parameters end before `at`."""
    angle = 0
    for i in range(at, len(tokens)):
        word = tokens[i][0]
        angle += (word == "<") - (word == ">")
        if word == "{":
            return i
        if word in ";)]}=" or word == "," and angle == 0:
            break
    return -1


def lambdas(file, tokens):
    """Each as a function, with a name where the words in front of it are NAME = ."""
    for at, (word, line) in enumerate(tokens):
        before = tokens[at - 1][0] if at else ""
        if word != "[" or before in ")]" or is_name(before) and before not in CONTROL:
            continue  # an index, an attribute or an operator
        end = closing(tokens, at) + 1
        if end == 0 or end == len(tokens):
            continue
        last = closing(tokens, end) if tokens[end][0] == "(" else end - 1
        body = body_of_lambda(tokens, last + 1)
        if last < 0 or body < 0:
            continue
        first = at
        while first > 0 and tokens[first - 1][0] not in ";{}(,":
            first -= 1
        name = tokens[at - 2][0] if before == "=" and at > 1 else "lambda"
        words = [w for w, _ in tokens[end + 1 : last]]
        yield Function(file, name, tokens[first][1], tokens[closing(tokens, body)][1],
                       count_parameters(words), True)


def function_types(file, tokens):
    """Types of pointers to functions, R (*NAME)(...), and function<R(...)>, as declarations."""
    words = [w for w, _ in tokens]
    for at, (word, line) in enumerate(tokens):
        name, begin = "(unnamed)", -1
        if word == "function" and words[at + 1 : at + 2] == ["<"]:
            begin = words.index("(", at) if "(" in words[at : at + 16] else -1
        elif word == "(" and at > 0 and (
            is_name(words[at - 1]) and words[at - 1] not in CONTROL or words[at - 1] in ">*&"
        ):
            end = closing(tokens, at)
            inner = [w for w in words[at + 1 : end] if w not in ("const", "::")]
            star = next((i for i, w in enumerate(inner) if w in "*&"), -1)
            if star >= 0 and all(is_name(w) for w in inner[:star]) and len(inner) < star + 6 and (
                words[end + 1 : end + 2] == ["("] and "(" not in inner
            ):
                name, begin = (inner[star + 1 : star + 2] or [name])[0], end + 1
        if begin >= 0:
            end = closing(tokens, begin)
            yield Function(file, name, line, tokens[end][1],
                           count_parameters(words[begin + 1 : end]), False)


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
                words = [w for w, _ in head[:i]]
                if "operator" not in words and words.count("<") > words.count(">"):
                    depth += 1  # an argument of a template, as function<int(int)>
                    continue
                if "operator" in words:  # operator==, operator bool
                    name = "".join(words[words.index("operator"):])
                elif not is_name(before) or before in CONTROL:
                    return None
                elif head[i + 1 : i + 2] and head[i + 1][0] in "*&":
                    return None  # a pointer to a function
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


class Reader:
    """Follows the braces of one source, outside of functions, and notes what they enclose."""

    def __init__(self, file):
        self.file = file
        self.functions, self.classes = [], []
        self.stack = []  # of ("scope" | "class" | "function" | "other", entry)
        self.head = []  # words since the last declaration, with their lines
        self.parentheses = 0

    def in_scope(self):
        return not self.stack or self.stack[-1][0] in ("scope", "class")

    def read(self, word, line):
        if not self.in_scope():
            self.pass_over(word, line)
            return
        self.parentheses += (word in "([") - (word in ")]")
        if self.parentheses > 0:
            self.stack += [("other", None)] if word == "{" else []
            self.head += [(word, line)] if word not in "{}" else []
        elif word == "{":
            self.open(line)
        elif word == "}":
            self.close(line)
        elif word == ";":
            self.declare(line)
        elif word == ":" and [w for w, _ in self.head] in (["public"], ["private"], ["protected"]):
            self.head = []
        else:
            self.head.append((word, line))

    def pass_over(self, word, line):
        """A word in the body of a function or in an initialiser."""
        if word == "{":
            self.stack.append(("other", None))
        elif word == "}":
            kind, entry = self.stack.pop()
            if entry is not None:
                entry.last = line
            if kind == "other" and self.in_scope():
                self.head.append(("{}", line))  # what follows belongs to the initialiser
            elif self.in_scope():
                self.head = []

    def open(self, line):
        words = [w for w, _ in self.head]
        klass = is_class(self.head)
        if words[:1] in (["namespace"], ["extern"]) and "(" not in words or (
            words[:2] == ["inline", "namespace"]
        ):
            self.stack.append(("scope", None))
            self.head = []
        elif klass is not None:
            self.classes.append(Class(self.file, klass, self.head[0][1], line))
            self.stack.append(("class", self.classes[-1]))
            self.head = []
        elif words[:1] == ["catch"]:  # of a function whose body is a try block
            self.stack.append(("function", None))
        elif begins_body(words, signature(self.head)):
            name, parameters = signature(self.head)
            self.functions.append(Function(self.file, name, self.head[0][1], line, parameters,
                                           True, owner_of(self.head, name)))
            self.stack.append(("function", self.functions[-1]))
        else:
            self.stack.append(("other", None))

    def close(self, line):
        if self.stack:
            _, entry = self.stack.pop()
            if entry is not None:
                entry.last = line
        self.head = []

    def declare(self, line):
        words = [w for w, _ in self.head]
        found = function_type(words) or signature(self.head)
        if found and words[0] not in ("typedef", "friend", "return"):
            self.functions.append(
                Function(self.file, found[0], self.head[0][1], line, found[1], False)
            )
        self.head = []


def begins_body(words, found):
    """True if a brace behind the words is the body of the function that `signature` found: one
    behind a member's name in a list of initialisers is not."""
    if not found or "enum" in words:
        return False
    in_list = ":" in words and re.fullmatch(r"[A-Za-z_]\w*|>", words[-1]) and (
        words[words.index(":") - 1] == ")" and words[-1] not in ("const", "noexcept")
    )
    return not in_list


def function_type(words):
    """(name, parameter count) of `using NAME = R(...)`, or None."""
    if words[:1] != ["using"] or words[2:3] != ["="] or "(" not in words or words[-1] != ")":
        return None
    begin = words.index("(")
    if words[begin - 1] == "decltype" or words[begin + 1] in "*&":
        return None
    return words[1], count_parameters(words[begin + 1 : -1])


def measure(file, text):
    """([Function], [Class]) of one source."""
    tokens = list(tokens_of(without_noise(text)))
    reader = Reader(file)
    for word, line in tokens:
        reader.read(word, line)
    functions = [*macros(file, text), *reader.functions, *lambdas(file, tokens),
                 *function_types(file, tokens)]
    return functions, reader.classes


def sources(root, folders, endings=(".h", ".hpp", ".c", ".cc")):
    """Paths below the folders, relative to the root, in a fixed order."""
    root = pathlib.Path(root)
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                yield path.relative_to(root).as_posix()
