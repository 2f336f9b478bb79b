#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""The dynamic symbols, dependencies and search paths of libhawser.so.0 and libnccl.so.2."""
import re
import subprocess
import unittest

import abi

HAWSER = abi.path("HAWSER_LIBRARY")
NCCL = abi.path("HAWSER_NCCL_LIBRARY")
NEWEST_GLIBC = (2, 35)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    """name -> letter of nm for each defined dynamic symbol."""
    lines = (line.split() for line in run("nm", "-D", "--defined-only", library).splitlines())
    return {words[-1]: words[-2] for words in lines}


def dynamic(library, tag):
    """Values of one tag of the dynamic section."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", "-W", library))


class Symbols(unittest.TestCase):

    def setUp(self):
        abi.skip_if_sanitized(self)

    def test_nccl_exports_nccl_names_with_their_bindings(self):
        expected = {}
        for name in abi.symbols():
            has_twin = name != "ncclResetDebugInitInternal"
            expected[name] = "W" if has_twin else "T"
            if has_twin:
                expected["p" + name] = "T"
        self.assertEqual(len(expected), 97 + 96)
        self.assertEqual(exported(NCCL), expected)

    def test_both_names_are_the_same_code(self):
        lines = run("nm", "-D", "--defined-only", NCCL).splitlines()
        places = {line.split()[-1]: line.split()[0] for line in lines}
        for name in abi.symbols():
            if name != "ncclResetDebugInitInternal":
                self.assertEqual(places[name], places["p" + name], name)

    def test_hawser_exports_a_twin_of_each_and_nothing_else(self):
        self.assertEqual(exported(HAWSER), {"hawser" + name[len("nccl"):]: "T" for name in abi.symbols()})

    def test_no_symbol_versions_are_defined(self):
        for library in (HAWSER, NCCL):
            self.assertNotIn("Version definition section", run("readelf", "-V", "-W", library), library)

    def test_names(self):
        self.assertEqual(dynamic(HAWSER, "SONAME"), ["libhawser.so.0"])
        self.assertEqual(dynamic(NCCL, "SONAME"), ["libnccl.so.2"])

    def test_needs_libc_and_libm_only(self):
        system = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        self.assertLessEqual(set(dynamic(HAWSER, "NEEDED")), system)
        self.assertIn("libhawser.so.0", dynamic(NCCL, "NEEDED"))
        self.assertLessEqual(set(dynamic(NCCL, "NEEDED")) - {"libhawser.so.0"}, system)

    def test_no_symbol_newer_than_the_oldest_glibc(self):
        for library in (HAWSER, NCCL):
            versions = re.findall(r"@GLIBC_(\d+)\.(\d+)", run("nm", "-D", "--undefined-only", library))
            newest = max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))
            self.assertLessEqual(newest, NEWEST_GLIBC, library)

    def test_nothing_of_the_c_plus_plus_runtime_is_taken_from_outside(self):
        undefined = run("nm", "-D", "--undefined-only", HAWSER)
        self.assertEqual(re.findall(r"\b(?:_Z\w+|__cxa_(?!finalize|thread_atexit_impl|atexit)\w+|_Unwind_\w+)", undefined), [])

    def test_search_path(self):
        libdir = abi.path("HAWSER_LIBDIR")
        for library in (HAWSER, NCCL):
            self.assertEqual(dynamic(library, "RUNPATH"), [f"$ORIGIN:{libdir}"])
            self.assertEqual(dynamic(library, "RPATH"), [])

    def test_internals_do_not_go_through_exported_names(self):
        relocations = run("readelf", "-r", "-W", HAWSER)
        self.assertEqual(re.findall(r"\bhawser\w+", relocations), [])
        self.assertEqual(re.findall(r"\bp?nccl[A-Z]\w+", run("nm", "-D", "--undefined-only", HAWSER)), [])

    def test_forwarding_is_one_jump(self):
        if "x86-64" not in run("readelf", "-h", NCCL).lower():
            self.skipTest("the instructions are known here for x86-64 only")
        text = run("objdump", "-d", "--no-show-raw-insn", "-w", NCCL)
        for name in ("ncclAllReduce", "ncclSend", "ncclCommCount", "ncclGroupStart"):
            code = re.search(rf"<p?{name}>:\n((?:.+\n)+)", text)
            self.assertIsNotNone(code, name)
            steps = [line.split("\t")[-1].split()[0] for line in code.group(1).splitlines()]
            self.assertIn([step for step in steps if not step.startswith(("nop", "endbr", "cs", "data16", "xchg"))],
                          (["jmp"], ["bnd"], ["jmp", "jmp"]), name)


if __name__ == "__main__":
    abi.main()
