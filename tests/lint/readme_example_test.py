# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C program of README.md, runs it, and compares what it prints with what README.md says that it prints:
readme_example_test.py README INCLUDE LIBRARY, with the compiler in CC."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def main(readme, include, library):
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    program = re.search(r"```c\n(.*?)```", text, re.DOTALL).group(1)
    promised = re.search(r"It prints `([^`]*)`", text).group(1)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "example.c", pathlib.Path(folder) / "example"
        source.write_text(program, encoding="utf-8")
        libdir = str(pathlib.Path(library).parent)
        subprocess.run([os.environ["CC"], "-std=c99", "-Wall", "-Wextra", "-Werror", "-DHAWSER_NO_CUDA_HEADERS",
                        "-I", include, "-o", str(binary), str(source), library, f"-Wl,-rpath,{libdir}"], check=True)
        done = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60)
    print(f"exit {done.returncode}, printed {done.stdout!r} {done.stderr}, promised {promised!r}")
    return 0 if done.returncode == 0 and done.stdout == promised + "\n" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
