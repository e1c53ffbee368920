# SPDX-License-Identifier: Apache-2.0
"""The bill of materials names what is linked, with licences: every library that the loader
is asked for, and every package whose headers the installed sources include; nothing more.

  sbom.py SBOM ROOT READELF BINARY...
"""
import json
import pathlib
import re
import subprocess
import sys

# Sonames and folders of headers, by the package that they belong to.
LIBRARIES = {"libonnx": "onnx", "libonnx_proto": "onnx", "libprotobuf": "protobuf",
             "libmimalloc": "mimalloc", "libstdc++": "gcc-runtime", "libgcc_s": "gcc-runtime",
             "libc": "libc", "libm": "libc", "ld-linux-x86-64": "libc",
             "ld-linux-aarch64": "libc", "libsluice": "sluice", "libsluice_import": "sluice"}
HEADERS = {"flatbuffers": "flatbuffers", "CLI": "CLI11", "nlohmann": "nlohmann-json",
           "onnx": "onnx", "google": "protobuf", "sys": "libc", "arpa": "libc"}
FOLDERS = ("src", "firmware-sim", "bindings/targets")


def main():
    sbom, root, readelf, *binaries = sys.argv[1:]
    bill = json.loads(pathlib.Path(sbom).read_text(encoding="utf-8"))
    packages = {p["name"]: p for p in bill["packages"]}
    wrong = []
    for name, package in packages.items():
        if not package["licenseConcluded"] or package["versionInfo"] == "":
            wrong.append(f"{name} has no licence or no version")
    related = {r["relatedSpdxElement"] for r in bill["relationships"]}
    wrong += [f"{n} is related to nothing" for n, p in packages.items()
              if p["SPDXID"] not in related]
    used = set()
    for binary in binaries:
        told = subprocess.run([readelf, "-dW", binary], capture_output=True, text=True,
                              check=True).stdout
        for soname in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", told):
            stem = soname.split(".so")[0]
            if stem not in LIBRARIES:
                wrong.append(f"{binary} needs {soname}, of no known package")
            used.add(LIBRARIES.get(stem))
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
    used.add("sluice")
    wrong += [f"{name} is used and not in the bill" for name in sorted(used - set(packages))]
    wrong += [f"{name} is in the bill and not used" for name in sorted(set(packages) - used)]
    print("\n".join(wrong))
    print(f"{len(packages)} packages: " + ", ".join(
        f"{n} {p['versionInfo']} ({p['licenseConcluded']})" for n, p in packages.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
