#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which models --only PATTERN of the scripts here means.

A pattern that no name fits is a mistake of the caller: without a word it would look as if all
had passed.

  selection.py --self-test
"""
import fnmatch
import sys


class Selection:
    """Asked with each name; `require_one` at the end fails if the pattern fitted none."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.found = False

    def has(self, name):
        fits = fnmatch.fnmatch(name, self.pattern)
        self.found = self.found or fits
        return fits

    def require_one(self):
        if not self.found:
            sys.exit(f"--only {self.pattern}: no model has a name that fits")


def self_test():
    one = Selection("ADD*")
    assert [one.has(name) for name in ("ADD.int8", "MUL.int8")] == [True, False]
    one.require_one()
    none = Selection("NOTHING*")
    assert not none.has("ADD.int8")
    try:
        none.require_one()
    except SystemExit as error:
        assert "NOTHING*" in str(error.code), error
    else:
        sys.exit("a pattern that fits nothing passed")
    print("a pattern that fits nothing is a failure")


if __name__ == "__main__":
    self_test()
