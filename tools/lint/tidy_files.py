#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the translation units that clang-tidy should read: tidy_files.py [--all] [--most N] COMPILE_COMMANDS.

Without --all: those changed since the merge base with main, or by the last commit where HEAD is main's; for a changed
header a unit that includes it. Work that is not committed counts as changed. With --most, at most so many, the library
before tools and tests; how many are left out is said on standard error."""
import argparse
import json
import pathlib
import subprocess
import sys

import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*arguments):
    """Output of a git command, or None if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_commit():
    """The commit to compare with; None: the history has no other."""
    head = git("rev-parse", "HEAD")
    for main in ("main", "origin/main"):
        base = git("merge-base", "HEAD", main)
        if base and base != head:
            return base
    return git("rev-parse", "--verify", "--quiet", "HEAD~1")


def changed_files():
    base = base_commit()
    if base is None:
        return tree.files(ROOT)
    changed = git("diff", "--name-only", "--diff-filter=d", base) or ""
    untracked = git("ls-files", "-o", "--exclude-standard") or ""
    return sorted(set(changed.split("\n") + untracked.split("\n")) - {""})


def units_for(path, units, texts):
    """The units to read for a changed file: itself, its namesake, or the first unit that includes it."""
    if path in units:
        return [path]
    if pathlib.PurePath(path).suffix not in tree.HEADER_SUFFIXES:
        return []
    namesake = str(pathlib.PurePath(path).with_suffix(".cpp"))
    if namesake in units:
        return [namesake]
    ending = "/".join(pathlib.PurePath(path).parts[-2:]) + '"'
    return [unit for unit in sorted(units) if ending in texts(unit)][:1]


def library_first(unit):
    return not unit.startswith(("src/", "kernels/")), unit.startswith("tests/"), unit


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--most", type=int)
    options = parser.parse_args(arguments)
    entries = json.loads(pathlib.Path(options.database).read_text(encoding="utf-8"))
    known = {pathlib.Path(entry["file"]) for entry in entries}
    units = {str(path.relative_to(ROOT)) for path in known if path.is_relative_to(ROOT)}
    left_out = {subject for rule, subject in tree.exceptions(ROOT) if rule == "clang-tidy"}
    units = {unit for unit in units - left_out if not unit.startswith("build/") and unit.endswith(".cpp")}
    changed = [] if options.all else changed_files()
    wanted = units if options.all else {u for path in changed for u in units_for(path, units, lambda u: tree.read(ROOT, u))}
    chosen = sorted(wanted, key=library_first)[:options.most]
    if len(chosen) < len(wanted):
        print(f"clang-tidy: {len(wanted) - len(chosen)} of {len(wanted)} files left out to save time; "
              "./dev lint reads them", file=sys.stderr)
    print("\n".join(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
