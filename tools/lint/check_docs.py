#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Pages that name files which are not there have gone stale: every relative link and every `path` in a page exists."""
import glob
import pathlib
import re
import sys

import tree

FOLDERS = ("cmake", "docs", "include", "kernels", "perf", "python", "src", "tests", "tools")

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:" + "|".join(FOLDERS) + r")/[\w./*-]*)`")


def names(text):
    """(line, name, whether it is relative to the page) for each file that a page names."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _LINK.finditer(line):
            if not re.match(r"[a-z]+:", match.group(1)):
                yield number, match.group(1), True
        for match in _PATH.finditer(line):
            yield number, match.group(1), False


def check_page(root, path, text):
    findings = []
    for number, name, is_relative in names(text):
        base = (pathlib.Path(root) / path).parent if is_relative else pathlib.Path(root)
        if not glob.glob(str(base / name)):
            findings.append(tree.Finding(path, number, "stale-name", f"there is no {name}"))
    return findings


def main(root):
    pages = [path for path in tree.files(root) if path.endswith(".md")]
    return tree.report([finding for path in pages for finding in check_page(root, path, tree.read(root, path))])


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[2]))
