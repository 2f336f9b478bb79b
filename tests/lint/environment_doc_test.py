# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/environment.md with what the generator prints: environment_doc_test.py GENERATOR PAGE."""
import difflib
import pathlib
import subprocess
import sys


def main(generator, page):
    wanted = subprocess.run([generator], check=True, capture_output=True, text=True).stdout
    found = pathlib.Path(page).read_text(encoding="utf-8")
    difference = list(difflib.unified_diff(found.splitlines(), wanted.splitlines(), page, "the table", lineterm=""))
    print("\n".join(difference) or f"{page} is current")
    if difference:
        print("run ./dev docs")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
