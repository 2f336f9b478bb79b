#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Which library a process gets: another libnccl.so.2 loaded first, LD_PRELOAD by absolute path, LD_LIBRARY_PATH, ctypes."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import abi

HAWSER = abi.path("HAWSER_LIBRARY")
NCCL = abi.path("HAWSER_NCCL_LIBRARY")
FAKE = abi.path("HAWSER_FAKE_NCCL")
FAKE_BOTH = abi.path("HAWSER_FAKE_BOTH")
FOREIGN_FIRST = abi.path("HAWSER_FOREIGN_FIRST")
VERSION_PROGRAM = abi.path("HAWSER_VERSION_PROGRAM")
CODE = str(abi.version_code(abi.LATEST))


def run(*command, **variables):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **variables})


class Binding(unittest.TestCase):

    def setUp(self):
        abi.skip_if_sanitized(self)

    def test_another_libnccl_loaded_first_is_never_called(self):
        for fake in (FAKE, FAKE_BOTH):
            done = run(FOREIGN_FIRST, fake, HAWSER)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_program_of_another_libnccl_gets_that_one_by_itself(self):
        self.assertEqual(run(VERSION_PROGRAM).stdout.strip(), "1")

    def test_preload_by_absolute_path(self):
        done = run(VERSION_PROGRAM, LD_PRELOAD=str(NCCL.resolve()))
        self.assertEqual((done.stdout.strip(), done.stderr), (CODE, ""))

    def test_library_path(self):
        """The program's own search path is a RUNPATH, which comes after LD_LIBRARY_PATH."""
        done = run(VERSION_PROGRAM, LD_LIBRARY_PATH=str(NCCL.parent))
        self.assertEqual((done.stdout.strip(), done.stderr), (CODE, ""))

    def test_local_dlopen_from_python(self):
        code = ("import ctypes, os, sys\n"
                "library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "version = ctypes.c_int()\n"
                "assert library.ncclGetVersion(ctypes.byref(version)) == 0\n"
                "print(version.value)\n"
                "try:\n"
                "    ctypes.CDLL(None).hawserGetVersion\n"
                "    print('leaked')\n"
                "except AttributeError:\n"
                "    pass\n")
        done = run(sys.executable, "-c", code, NCCL)
        self.assertEqual((done.stdout.strip(), done.stderr), (CODE, ""))

    def test_local_dlopen_after_another_libnccl(self):
        """glibc takes a path by its file, not by the SONAME that both libraries have."""
        code = ("import ctypes, os, sys\n"
                "ctypes.CDLL(sys.argv[1], mode=os.RTLD_GLOBAL | os.RTLD_NOW)\n"
                "library = ctypes.CDLL(sys.argv[2], mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "version = ctypes.c_int()\n"
                "assert library.ncclGetVersion(ctypes.byref(version)) == 0\n"
                "print(version.value)\n")
        done = run(sys.executable, "-c", code, FAKE, NCCL)
        self.assertEqual((done.stdout.strip(), done.stderr), (CODE, ""))

    def test_core_is_found_beside_the_face(self):
        with tempfile.TemporaryDirectory() as folder:
            for library in (NCCL, HAWSER):
                (pathlib.Path(folder) / library.name).write_bytes(library.read_bytes())
            done = run(VERSION_PROGRAM, LD_PRELOAD=f"{folder}/{NCCL.name}")
            self.assertEqual((done.stdout.strip(), done.stderr), (CODE, ""))


if __name__ == "__main__":
    abi.main()
