#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C interface as a page: reference.py OUTPUT HEADER...

Every declaration of the headers with the comment in front of it, in the headers' order,
under an index of functions. Ends with 1 when a function of the headers is not in it.
"""
import re
import sys


def items(text):
    """(comment, code) of every top-level declaration."""
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(r'^extern "C" \{$|^\}$', "", text, flags=re.M)
    comment, code, depth = "", "", 0
    for token in re.findall(r"/\*.*?\*/|[^/]+|/", text, re.S):
        if token.startswith("/*") and depth == 0 and not code.strip():
            comment, code = token[2:-2], ""
            continue
        for line in re.split(r"(?<=[;{}\n])", token) if not token.startswith("/*") else [token]:
            code += line
            if not line.startswith("/*"):
                depth += line.count("{") - line.count("}")
            if depth == 0 and line.endswith(";"):
                yield comment, code.strip()
                comment, code = "", ""


def clean(comment):
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.strip().splitlines()]
    return "\n".join(lines)


def name_of(code):
    for pattern in (r"SLUICE_(?:DEVICE_)?API [^(]*?\b(\w+)\(", r"\b(sluice_walk_\w+)\(",
                    r"\}\s*(\w+)\s*;$", r"typedef [^;]*?\(\*(\w+)\)", r"typedef .*?\b(\w+);$"):
        found = re.search(pattern, code, re.S)
        if found:
            return found.group(1)
    found = re.search(r"\b(SLUICE_[A-Z]+(?:_[A-Z]+)*)", code)
    return found.group(1) + ", ..." if found and code.startswith("enum") else None


def main():
    output, *headers = sys.argv[1:]
    page, functions, declared = [], [], 0
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text = file.read()
        declared += len(re.findall(r"^SLUICE_(?:DEVICE_)?API ", text, re.M))
        page.append(f"\n## {header.rsplit('/', 1)[-1]}\n")
        about = re.match(r"/\* SPDX.*?\*/\s*/\*(.*?)\*/", text, re.S)
        if about:
            page.append(clean(about.group(1)) + "\n")
            text = text[about.end():]
        for comment, code in items(text):
            name = name_of(code)
            if name is None:
                continue
            page.append(f"\n### {name}\n\n{clean(comment)}\n\n```c\n{code}\n```\n")
            if "API " in code and "(" in code:
                functions.append(name)
    index = "\n".join(f"- [{f}](#{f})" for f in functions)
    with open(output, "w", encoding="utf-8") as file:
        file.write("# The C interface\n\nGenerated from the headers.\n\n" + index + "\n")
        file.write("\n".join(page))
    print(f"{len(functions)} functions of {declared}")
    sys.exit(functions == [] or len(functions) != declared)


main()
