# SPDX-License-Identifier: Apache-2.0
"""The bill of materials names what is linked, with versions and licences: every library that the
loader is asked for, and every package whose headers the installed sources include; nothing more.
Its form is that of SPDX 2.3, as far as this file needs it. The packages bring the texts of
licences of what they contain. At the end, bills that lack something are noticed.

  sbom.py SBOM COPYRIGHT ROOT READELF BINARY...
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

# Sonames and folders of headers, by the package that they belong to.
LIBRARIES = {"libonnx": "onnx", "libonnx_proto": "onnx", "libprotobuf": "protobuf",
             "libmimalloc": "mimalloc", "libstdc++": "gcc-runtime", "libgcc_s": "gcc-runtime",
             "libc": "libc", "libm": "libc", "ld-linux-x86-64": "libc",
             "ld-linux-aarch64": "libc", "libsluice": "sluice", "libsluice_import": "sluice",
             "libflatbuffers": "flatbuffers"}
HEADERS = {"flatbuffers": "flatbuffers", "CLI": "CLI11", "nlohmann": "nlohmann-json",
           "onnx": "onnx", "google": "protobuf", "sys": "libc", "arpa": "libc"}
FOLDERS = ("src", "firmware-sim", "bindings/targets")
LICENCES = {"Apache-2.0", "MIT", "BSD-3-Clause", "LGPL-2.1-or-later", "GPL-3.0-or-later"}
EXCEPTIONS = {"GCC-exception-3.1"}
RELATIONS = {"DESCRIBES", "STATIC_LINK", "DYNAMIC_LINK"}
# Words of the licence that stand in no other text.
TEXTS = {"Apache-2.0": "Apache License", "MIT": "Permission is hereby granted, free of charge",
         "BSD-3-Clause": "Redistributions in binary form must reproduce",
         "GPL-3.0-or-later WITH GCC-exception-3.1": "GCC Runtime Library Exception"}


def used_packages(root, readelf, binaries):
    """The packages that binaries and sources need, those of them that the loader is asked for,
    and what is of no known package."""
    used, dynamic, wrong = {"sluice"}, set(), []
    for binary in binaries:
        told = subprocess.run([readelf, "-dW", binary], capture_output=True, text=True,
                              check=True).stdout
        for soname in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", told):
            stem = soname.split(".so")[0]
            if stem not in LIBRARIES:
                wrong.append(f"{binary} needs {soname}, of no known package")
            used.add(LIBRARIES.get(stem))
            dynamic.add(LIBRARIES.get(stem))
    for folder in FOLDERS:
        for path in sorted((pathlib.Path(root) / folder).rglob("*")):
            if path.suffix not in (".h", ".cc", ".c"):
                continue
            text = path.read_text(encoding="utf-8")
            for head in re.findall(r"#include <(\w+)/", text):
                if head not in HEADERS:
                    wrong.append(f"{path} includes <{head}/...>, of no known package")
                used.add(HEADERS.get(head))
    used.discard(None)
    return used, dynamic - {None, "sluice"}, wrong


def licence_is_known(text):
    licence, _, exception = text.partition(" WITH ")
    return licence in LICENCES and (not exception or exception in EXCEPTIONS)


def faults_of_form(bill):
    """What SPDX 2.3 demands of a document, its packages and relationships."""
    wrong = []
    want = {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": r".+", "documentNamespace": r"https?://[^#\s]+"}
    wrong += [f"document: {k} is {bill.get(k)!r}" for k, form in want.items()
              if not re.fullmatch(form, bill.get(k, ""))]
    made = bill.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made.get("created", "")):
        wrong.append("creationInfo: created is no time")
    if not made.get("creators") or not all(
            re.match(r"(Tool|Person|Organization): ", c) for c in made["creators"]):
        wrong.append("creationInfo: creators")
    ids = {"SPDXRef-DOCUMENT"}
    for package in bill.get("packages", []):
        name, own = package.get("name", ""), package.get("SPDXID", "")
        if not name or not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", own) or own in ids:
            wrong.append(f"package {name!r}: SPDXID {own!r}")
        ids.add(own)
        if not re.fullmatch(r"NOASSERTION|https?://\S+", package.get("downloadLocation", "")):
            wrong.append(f"{name}: downloadLocation")
        if package.get("filesAnalyzed") is not False or not package.get("copyrightText"):
            wrong.append(f"{name}: filesAnalyzed or copyrightText")
        for key in ("licenseConcluded", "licenseDeclared"):
            if not licence_is_known(package.get(key, "")):
                wrong.append(f"{name}: {key} is {package.get(key)!r}")
        if not re.fullmatch(r"\d+(\.\d+)+", package.get("versionInfo", "")):
            wrong.append(f"{name}: no version")
    related = set()
    for relation in bill.get("relationships", []):
        ends = {relation.get("spdxElementId"), relation.get("relatedSpdxElement")}
        related |= ends
        if relation.get("relationshipType") not in RELATIONS or ends - ids:
            wrong.append(f"relationship {relation}")
    return wrong + [f"{i} is related to nothing" for i in sorted(ids - related)]


def faults(bill, licences, used, dynamic):
    wrong = faults_of_form(bill)
    packages = {p.get("name"): p for p in bill["packages"]}
    wrong += [f"{name} is used and not in the bill" for name in sorted(used - set(packages))]
    wrong += [f"{name} is in the bill and not used" for name in sorted(set(packages) - used)]
    links = {kind: {r["relatedSpdxElement"].removeprefix("SPDXRef-")
                    for r in bill["relationships"] if r["relationshipType"] == kind}
             for kind in ("STATIC_LINK", "DYNAMIC_LINK")}
    # A part of the compiler's runtime is always inside.
    wrong += [f"{name} is not said to be inside" for name in sorted(
        (used - dynamic - {"sluice"} | {"gcc-runtime"}) - links["STATIC_LINK"])]
    wrong += [f"{name} is not said to be loaded" for name in sorted(
        dynamic - links["DYNAMIC_LINK"])]
    inside = {r["relatedSpdxElement"] for r in bill["relationships"]
              if r["relationshipType"] == "STATIC_LINK"}
    for name, package in packages.items():
        if package["SPDXID"] not in inside:
            continue
        if f"\n{name} (" not in licences or \
                TEXTS.get(package["licenseConcluded"], "no such licence") not in licences:
            wrong.append(f"the text of {name}'s licence is not installed")
    return wrong


def unnoticed(bill, licences, used, dynamic):
    """Changes that make a bill wrong and that faults() does not notice."""
    left = []
    for at in range(len(bill["packages"])):
        changes = [("gone", lambda b: b["packages"].pop(at))]
        for key, value in (("licenseConcluded", ""), ("licenseDeclared", "Free"),
                           ("versionInfo", ""), ("SPDXID", "flat buffers"),
                           ("downloadLocation", "")):
            changes.append((key, lambda b, k=key, v=value: b["packages"][at].update({k: v})))
        for name, change in changes:
            other = copy.deepcopy(bill)
            change(other)
            if not faults(other, licences, used, dynamic):
                left.append(f"{bill['packages'][at]['name']}: {name}")
    for at in range(len(bill["relationships"])):
        other = copy.deepcopy(bill)
        other["relationships"].pop(at)
        if not faults(other, licences, used, dynamic):
            left.append(f"relationship {at}")
    more = used | {"another"}
    if not faults(bill, "", used, dynamic) or not faults(bill, licences, more, dynamic):
        left.append("no texts, or another package")
    return left


def main():
    sbom, licences, root, readelf, *binaries = sys.argv[1:]
    bill = json.loads(pathlib.Path(sbom).read_text(encoding="utf-8"))
    licences = pathlib.Path(licences).read_text(encoding="utf-8")
    used, dynamic, wrong = used_packages(root, readelf, binaries)
    wrong += faults(bill, licences, used, dynamic)
    if not wrong:
        wrong = [f"not noticed: {what}" for what in unnoticed(bill, licences, used, dynamic)]
    print("\n".join(wrong))
    print(f"{len(bill['packages'])} packages: " + ", ".join(
        f"{p['name']} {p['versionInfo']} ({p['licenseConcluded']})" for p in bill["packages"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
