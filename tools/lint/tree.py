# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""What every check of the tree needs: the list of files, C++ text without comments and strings, and exceptions."""
import dataclasses
import pathlib
import re
import subprocess

CPP_SUFFIXES = {".c", ".cpp", ".cu", ".cuh", ".h"}
HEADER_SUFFIXES = {".cuh", ".h"}
SCRIPT_NAMES = {"CMakeLists.txt", "dev", "run"}
SCRIPT_SUFFIXES = {".cmake", ".py", ".sh"}
EXCEPTIONS = "tools/lint/exceptions.txt"


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text} [{self.rule}]"


def files(root):
    """Paths of all files that git tracks or would track, relative to the root, sorted."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    return [path for path in sorted(set(listed.split("\0"))) if path and (pathlib.Path(root) / path).is_file()]


def is_cpp(path):
    return pathlib.PurePath(path).suffix in CPP_SUFFIXES


def is_header(path):
    """Headers that declare. An x-inl.h holds code that is compiled once per SIMD target, under a guard of its own."""
    return pathlib.PurePath(path).suffix in HEADER_SUFFIXES and not path.endswith("-inl.h")


def is_source(path):
    pure = pathlib.PurePath(path)
    return pure.suffix in CPP_SUFFIXES | SCRIPT_SUFFIXES or pure.name in SCRIPT_NAMES


def read(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8", errors="replace")


_HIDDEN = re.compile(
    r'//(?:\\\n|[^\n])*'                              # comment to the end of the line
    r'|/\*.*?\*/'                                     # comment
    r'|R"([^()\s\\]{0,16})\(.*?\)\1"'                 # raw string
    r'|"(?:\\.|[^"\\\n])*"'                           # string
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",          # character, not a digit separator
    re.DOTALL)


def code_only(text):
    """C++ text of the same length and lines in which comments, strings and characters are blank."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def exceptions(root):
    """{(rule, subject): limit or None} from the exceptions file: "rule subject [limit] -- reason" per line."""
    known = {}
    path = pathlib.Path(root) / EXCEPTIONS
    if not path.exists():
        return known
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head, dashes, reason = line.partition(" -- ")
        words = head.split()
        if not dashes or not reason.strip() or len(words) not in (2, 3):
            raise SystemExit(f'{EXCEPTIONS}:{number}: not "rule subject [limit] -- reason"')
        known[words[0], words[1]] = int(words[2]) if len(words) == 3 else None
    return known


def report(findings):
    """Prints the findings; the exit status."""
    for finding in findings:
        print(finding)
    return 1 if findings else 0
