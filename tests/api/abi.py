# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL's interface as tests/data has it, for the tests of this folder."""
import json
import os
import pathlib
import re
import unittest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
ROOT = DATA.parents[1]
FACTS = json.loads((DATA / "nccl-abi.json").read_text())
RELEASES = FACTS["releases"]
LATEST = RELEASES[-1]


def symbols():
    """Names that libnccl.so.2 exports, without the pnccl twins."""
    lines = (DATA / "nccl-symbols.txt").read_text().splitlines()
    return [line.split()[1] for line in lines if line and not line.startswith("#")]


def version_code(release):
    major, minor, patch = (int(part) for part in release.split("."))
    return major * 10000 + minor * 100 + patch


def at(history, release):
    """What a table {first release: value} says for a release; None before the first."""
    known = [since for since in history if RELEASES.index(since) <= RELEASES.index(release)]
    return history[max(known, key=RELEASES.index)] if known else None


def constants():
    """name -> value in the latest release."""
    return {name: int(re.findall(r"-?\d+(?!\S*\.)", text.split(" since ")[0] if " then " not in text
                                 else text.rsplit(": ", 1)[1])[0]) for name, text in FACTS["constants"].items()}


def latest_records():
    """name -> shape, without those that a later version of the same record replaced."""
    newest = {}
    for name, history in FACTS["records"].items():
        stem, _, number = re.fullmatch(r"(\w+?)(_v(\d+))?", name).groups()
        if int(number or 0) >= int(newest.get(stem, ("", 0))[1]):
            newest[stem] = (name, int(number or 0))
    return {name: at(FACTS["records"][name], LATEST) for name, _ in newest.values()}


def config_shape(release):
    """The shape that ncclConfig_t had in a release."""
    shapes = [at(history, release) for name, history in FACTS["records"].items() if name.startswith("ncclConfig_v")]
    return max((shape for shape in shapes if shape), key=lambda shape: (shape["size"], len(shape["fields"])))


def initialiser(name, release):
    """Values in the order of the members."""
    text = ",".join(FACTS["initialisers"][name][release]).replace("\\", "").rstrip(",")
    return re.split(r",(?![^(]*\))", text)


def fields(shape):
    """(name, type, offset) of each member."""
    return [re.fullmatch(r"([\w.]+): (.+) @(\d+)", field).groups() for field in shape["fields"]]


def path(variable):
    """A file that CMake names to the tests."""
    return pathlib.Path(os.environ[variable])


def skip_if_sanitized(test):
    """For tests that load the library into a program which a sanitizer did not build."""
    if os.environ.get("HAWSER_SANITIZE"):
        test.skipTest(f"built with -fsanitize={os.environ['HAWSER_SANITIZE']}: such a library loads only into programs "
                      "built alike, and links libstdc++ dynamically")


def main():
    unittest.main(verbosity=2)
