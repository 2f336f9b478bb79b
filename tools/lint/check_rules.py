#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of CONTRIBUTING.md that a line of text can show: SPDX headers, includes, #if, what a library may not call,
TODO, paths of somebody's machine. Exceptions: exceptions.txt."""
import pathlib
import re
import sys

import tree

SPDX = ("SPDX-FileCopyrightText: The Hawser authors", "SPDX-License-Identifier: Apache-2.0")
LIBRARY = ("src/", "kernels/")
CONDITIONALS = ("include/", "kernels/", "tests/")

_CONDITIONAL = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b")
_PARENT_INCLUDE = re.compile(r'^\s*#\s*include\s*"[^"]*\.\./')
_ENDING = re.compile(r"(?:^|[;{})])\s*(?:std::|::)?(?:abort|exit|_exit|quick_exit|terminate)\s*\(")
_PRINTING = re.compile(r"(?<![\w.>])(?:std::)?(?:printf|fprintf|puts)\s*\(|\b(?:std|fmt)::print(?:ln)?\s*\(|\bstd::c(?:out|err)\b")
_ENVIRONMENT = re.compile(r"(?<!\w)(?:secure_)?getenv\s*\(")
_TODO = re.compile(r"\b(?:TODO\b(?!\(#\d+\))|FIXME\b|XXX\b)")
_MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|workspace|Users)/\w")

# Rules that hold for the code of the library, comments and strings left out: (rule, pattern, what to do).
_LIBRARY_RULES = (
    ("no-exit", _ENDING, "a library does not end the process: return a Status"),
    ("no-print", _PRINTING, "a library does not print: use base/log.h"),
    ("no-throw", re.compile(r"\bthrow\b"), "no exceptions: return a Status"),
    ("no-goto", re.compile(r"\bgoto\b"), "no goto"),
    ("no-volatile", re.compile(r"(?<!asm )(?<!__asm__ )\bvolatile\b"), "no volatile on the host: use std::atomic"),
    ("no-using-namespace", re.compile(r"\busing\s+namespace\b"), "name what you use"),
)


def _may_have_conditionals(path):
    return path.startswith(CONDITIONALS) or "/drivers/" in path


def check_header(path, text):
    """SPDX lines among the first three, #pragma once in our own headers."""
    findings = []
    first = text.splitlines()[:3]
    if not all(any(line.endswith(wanted) for line in first) for wanted in SPDX):
        findings.append(tree.Finding(path, 1, "spdx", "the two SPDX lines are missing"))
    if tree.is_header(path) and not path.startswith("include/") and "\n#pragma once\n" not in text:
        findings.append(tree.Finding(path, 1, "pragma-once", "#pragma once is missing"))
    return findings


def check_lines(path, text):
    """Rules for every text file: TODO and machine paths."""
    for number, line in enumerate(text.splitlines(), 1):
        if tree.is_source(path) and _TODO.search(line):
            yield tree.Finding(path, number, "todo", "write TODO(#issue): or do it")
        if _MACHINE.search(line):
            yield tree.Finding(path, number, "machine-path", "a path of somebody's machine")


def check_cpp(path, text):
    is_library = path.startswith(LIBRARY)
    for number, (line, code) in enumerate(zip(text.splitlines(), tree.code_only(text).splitlines()), 1):
        if _PARENT_INCLUDE.search(line):
            yield tree.Finding(path, number, "parent-include", 'includes are written "room/x.h"')
        if _CONDITIONAL.search(code) and not _may_have_conditionals(path):
            yield tree.Finding(path, number, "conditional", "#if only in kernels/, drivers/, include/, tests/")
        if is_library and path != "src/base/config.cpp" and _ENVIRONMENT.search(code):
            yield tree.Finding(path, number, "environment", "only base/config.cpp reads the environment")
        for rule, pattern, advice in _LIBRARY_RULES if is_library else ():
            if pattern.search(code):
                yield tree.Finding(path, number, rule, advice)


def check_file(path, text, exceptions):
    findings = list(check_lines(path, text))
    if tree.is_source(path):
        findings += check_header(path, text)
    if tree.is_cpp(path):
        findings += check_cpp(path, text)
    return [finding for finding in findings if (finding.rule, path) not in exceptions]


def main(root):
    exceptions = tree.exceptions(root)
    texts = [path for path in tree.files(root) if tree.is_source(path) or path.endswith((".md", ".json", ".txt"))]
    return tree.report([finding for path in texts for finding in check_file(path, tree.read(root, path), exceptions)])


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[2]))
