#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings what the TensorFlow Lite delegate is built and tested with: the published headers
(a Maven artefact, by mvn) and the Python interpreter (by pip).

    python3 bindings/tflite/fetch.py [FOLDER]        default: build/tflite

FOLDER/headers and FOLDER/python are there afterwards; what is there already stays. Without
mvn, pip or a way to the registries it says so and exits with 1: the delegate is then not
built, or its tests that need the interpreter are skipped.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

ARTEFACT = "org.tensorflow:tensorflow-lite:2.16.1:aar"
FILE = "tensorflow-lite-2.16.1.aar"
SHA256 = "34b065817e294e7dd3569504e8b9454938ceae453b6a459da54d5f6e45d3c94e"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
PACKAGES = ("ai-edge-litert==2.3.0", "tflite==2.18.0", "numpy==2.4.6")


def run(*command):
    """Whether it could be run and succeeded."""
    try:
        return subprocess.run(command, timeout=600, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{command[0]}: {error}")
        return False


def headers(folder):
    into = os.path.join(folder, "headers")
    if os.path.exists(os.path.join(into, "tensorflow/lite/c/common.h")):
        return True
    with tempfile.TemporaryDirectory(dir=folder) as work:
        if not run("mvn", "-q", "-B", f"-Dmaven.repo.local={work}/repository", COPY,
                   f"-Dartifact={ARTEFACT}", f"-DoutputDirectory={work}"):
            print(f"the headers of TensorFlow Lite: mvn did not bring {ARTEFACT}")
            return False
        archive = os.path.join(work, FILE)
        with open(archive, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if found != SHA256:
            print(f"{FILE} has the SHA-256 {found} instead of {SHA256}")
            return False
        with zipfile.ZipFile(archive) as aar:
            names = [n for n in aar.namelist() if n.startswith("headers/")]
            aar.extractall(work, names)
        shutil.rmtree(into, ignore_errors=True)
        os.rename(os.path.join(work, "headers"), into)
    return True


def interpreter(folder):
    into = os.path.join(folder, "python")
    if os.path.exists(os.path.join(into, "ai_edge_litert")):
        return True
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = os.path.join(work, "python")
        if not run(sys.executable, "-m", "pip", "-q", "install", "--no-warn-script-location",
                   "--root-user-action=ignore", "--target", made, *PACKAGES):
            print("the interpreter of TensorFlow Lite: pip did not bring it")
            return False
        shutil.rmtree(into, ignore_errors=True)
        os.rename(made, into)
    return True


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "build", "tflite")
    os.makedirs(folder, exist_ok=True)
    folder = os.path.abspath(folder)
    brought = [headers(folder), interpreter(folder)]
    sys.exit(0 if all(brought) else 1)


if __name__ == "__main__":
    main()
