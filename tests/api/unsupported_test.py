#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Every call that is exported but not there yet says so, by its type and in ncclGetLastError."""
import ctypes
import re
import unittest

import abi

NCCL = abi.path("HAWSER_NCCL_LIBRARY")
INVALID_USAGE = 5


class Team(ctypes.Structure):
    _fields_ = [("nRanks", ctypes.c_int), ("rank", ctypes.c_int), ("stride", ctypes.c_int)]


RETURNS = {"ncclResult_t": ctypes.c_int, "int": ctypes.c_int, "struct ncclTeam": Team, "void": None}


def unsupported():
    """(name, return type) of the calls that src/api/unsupported.cpp defines."""
    text = (abi.ROOT / "src/api/unsupported.cpp").read_text()
    return [(name, returns) for returns, name in re.findall(r'missing<([\w ]+)>\("(nccl\w+)"\)', text)]


def argument(kind):
    """Nothing, in the type of a parameter."""
    if kind == "ncclTeam_t":
        return Team()
    if kind in ("int", "unsigned int", "ncclDataType_t", "ncclRedOp_t", "ncclScalarResidence_t", "ncclCommMemStat_t"):
        return ctypes.c_int(0)
    return ctypes.c_void_p(0)


class Unsupported(unittest.TestCase):

    def setUp(self):
        abi.skip_if_sanitized(self)
        self.library = ctypes.CDLL(str(NCCL))
        self.library.ncclGetLastError.restype = ctypes.c_char_p

    def last_error(self):
        return self.library.ncclGetLastError(None).decode()

    def test_each_says_so(self):
        names = unsupported()
        for name, returns in names:
            for symbol in (name, "p" + name) if name != "ncclResetDebugInitInternal" else (name,):
                with self.subTest(symbol):
                    self.library.ncclCommCount(None, None)  # another text before
                    self.assertNotIn(name, self.last_error())
                    function = getattr(self.library, symbol)
                    function.restype = RETURNS[returns]
                    takes = abi.FACTS["functions"].get(name, {"takes": []})["takes"]
                    value = function(*(argument(kind) for kind in takes))
                    if returns == "ncclResult_t":
                        self.assertEqual(value, INVALID_USAGE)
                    elif returns == "int":
                        self.assertEqual(value, -1)
                    elif returns == "struct ncclTeam":
                        self.assertEqual((value.nRanks, value.rank, value.stride), (0, 0, 0))
                    self.assertRegex(self.last_error(), rf"^{name} : not implemented")

    def test_the_list_is_read(self):
        names = {name for name, _ in unsupported()}
        self.assertLess(names, set(abi.symbols()))
        self.assertTrue({"ncclTeamWorld", "ncclLLA2ACalcSlots", "ncclParamDumpAll", "ncclGinInboxA2ACreateRequirement"} <= names)
        self.assertNotIn("ncclAllReduce", names)


if __name__ == "__main__":
    abi.main()
