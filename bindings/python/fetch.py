#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings what the Python package is built and tested with, by pip.

    python3 bindings/python/fetch.py [FOLDER]        default: build/python

FOLDER/site has the packages of requirements.txt afterwards; what is there already stays as
long as the list does. Without pip or a way to the registry it says so and exits with 1: the
package is then not built, or its tests are skipped.
"""
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../build/python")
    os.makedirs(folder, exist_ok=True)
    wanted, into = os.path.join(here, "requirements.txt"), os.path.join(folder, "site")
    mark = os.path.join(into, "requirements.txt")
    with open(wanted, encoding="utf-8") as file:
        text = file.read()
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == text:
                return 0
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = os.path.join(work, "site")
        command = [sys.executable, "-m", "pip", "-q", "install", "--no-warn-script-location",
                   "--root-user-action=ignore", "--target", made, "-r", wanted]
        try:
            done = subprocess.run(command, timeout=900, check=False).returncode == 0
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"pip: {error}")
            done = False
        if not done:
            print("the packages of bindings/python/requirements.txt: pip did not bring them")
            return 1
        shutil.copy(wanted, os.path.join(made, "requirements.txt"))
        shutil.rmtree(into, ignore_errors=True)
        os.rename(made, into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
