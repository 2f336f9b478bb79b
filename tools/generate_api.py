#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from the list of NCCL's calls: include/hawser/hawser.h (a hawser* twin of each),
src/api/nccl_face.c (libnccl.so.2, which forwards to them) and src/api/unsupported.cpp (twins without an implementation).

Run it after a call has got its implementation in src/api. With --check it writes nothing and fails where a file differs.
Names come from tests/data/nccl-symbols.txt, types from tests/data/nccl-abi.json, parameter names from include/nccl.h.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPDX = "// SPDX-FileCopyrightText: The Hawser authors\n// SPDX-License-Identifier: Apache-2.0\n"
MADE = "Written by tools/generate_api.py; do not edit."

# Exported by the library, but declared in no published header: they are forwarded as far as that goes.
UNDECLARED = {
    "ncclGinInboxA2ACreateRequirement": "ncclResult_t",
    "ncclGinOutboxCreateRequirement": "ncclResult_t",
    "ncclResetDebugInitInternal": "void",
}

# Types of the device header as C spells them where only their names are known; enumerations by the type they pass as.
DEVICE_TYPES = {
    "ncclCommProperties_t": "struct ncclCommProperties",
    "ncclDevCommRequirements_t": "struct ncclDevCommRequirements",
    "ncclDevComm_t": "struct ncclDevComm",
    "ncclTeam_t": "struct ncclTeam",
    "ncclCftLeId": "uint32_t",
    "ncclCftTeamMode_t": "unsigned int",
    "ncclMultimemHandle_t": "struct ncclMultimemHandle",
    "ncclGinBarrierHandle_t": "struct ncclGinBarrierHandle",
    "ncclLsaBarrierHandle_t": "struct ncclLsaBarrierHandle",
    "ncclLLA2AHandle_t": "struct ncclLLA2AHandle",
    "ncclDevResourceRequirements_t": "struct ncclDevResourceRequirements",
}

DEVICE_PARAMETERS = {
    "ncclCommQueryProperties": "comm properties",
    "ncclDevCommCreate": "comm requirements dev_comm",
    "ncclDevCommDestroy": "comm dev_comm",
    "ncclGetCftDeviceLeInfo": "window offset peer team le_id le_offset",
    "ncclGetLsaDevicePointer": "window offset lsa_rank pointer",
    "ncclGetLsaMultimemDevicePointer": "window offset pointer",
    "ncclGetMultimemDeviceLeInfo": "window offset le_id le_offset",
    "ncclGetMultimemDevicePointer": "window offset multimem pointer",
    "ncclGetPeerDeviceLeInfo": "window offset peer le_id le_offset",
    "ncclGetPeerDevicePointer": "window offset peer pointer",
    "ncclGinBarrierCreateRequirement": "comm team barriers handle requirements",
    "ncclLLA2ACalcSlots": "max_elements max_element_bytes",
    "ncclLLA2ACreateRequirement": "blocks slots handle requirements",
    "ncclLsaBarrierCreateRequirement": "team barriers handle requirements",
    "ncclTeamCft": "comm mode",
    "ncclTeamCftMultimem": "comm",
    "ncclTeamLsa": "comm",
    "ncclTeamRail": "comm",
    "ncclTeamRankToLsa": "comm team rank",
    "ncclTeamRankToWorld": "comm team rank",
    "ncclTeamWorld": "comm",
}


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of NCCL in the spelling of hawser.h; parameters are (type, name)."""
    name: str
    returns: str
    parameters: tuple
    is_device: bool

    @property
    def twin(self):
        return "hawser" + self.name[len("nccl"):]

    @property
    def signature(self):
        return ", ".join(f"{kind} {name}" for kind, name in self.parameters) or "void"

    @property
    def arguments(self):
        return ", ".join(name for _, name in self.parameters)


def spell(kind):
    """A type of nccl-abi.json in C: types of the device header by their tags."""
    words = [DEVICE_TYPES.get(word, word) for word in kind.replace("*", " * ").split()]
    return re.sub(r" \*(?= \*| ?$)", "*", " ".join(words)).replace("* *", "**")


def header_declarations():
    """name -> (return type, [(type, parameter)]) of include/nccl.h, in its order."""
    text = re.sub(r"//[^\n]*", "", (ROOT / "include/nccl.h").read_text())
    found = {}
    for returns, name, inside in re.findall(r"^(\w[\w ]*\**) (nccl\w+)\(([^;]*?)\);", text, re.MULTILINE):
        parameters = [" ".join(part.split()) for part in inside.split(",")] if inside != "void" else []
        found[name] = (returns, [tuple(part.rsplit(" ", 1)) for part in parameters])
    return found


def calls():
    """All exported calls: those of nccl.h in its order, then the others by name."""
    declared = header_declarations()
    functions = json.loads((ROOT / "tests/data/nccl-abi.json").read_text())["functions"]
    lines = (ROOT / "tests/data/nccl-symbols.txt").read_text().splitlines()
    names = [line.split()[1] for line in lines if line and not line.startswith("#")]
    result = [Call(name, *_tupled(declared[name]), False) for name in declared if name in names]
    for name in sorted(set(names) - set(declared)):
        if name in UNDECLARED:
            result.append(Call(name, UNDECLARED[name], (), True))
            continue
        kinds = [spell(kind) for kind in functions[name]["takes"]]
        parameters = tuple(zip(kinds, DEVICE_PARAMETERS[name].split(), strict=True))
        result.append(Call(name, spell(functions[name]["returns"]), parameters, True))
    return result


def _tupled(declaration):
    return declaration[0], tuple(declaration[1])


def project_version():
    return re.search(r"project\(hawser VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def hawser_header(all_calls):
    major, minor, patch = project_version().split(".")
    tags = sorted({kind for kind in DEVICE_TYPES.values() if kind.startswith("struct ")})
    host = "\n".join(f"{call.returns} {call.twin}({call.signature});" for call in all_calls if not call.is_device)
    device = "\n".join(f"{call.returns} {call.twin}({call.signature});" for call in all_calls if call.is_device)
    return f"""{SPDX}// Hawser under its own names: each call is the twin of the NCCL call with the same ending, whose contract nccl.h states.
// A program that links libhawser gets Hawser, whatever libnccl.so.2 is in the same process. C99 or C++11.
// {MADE}
#ifndef HAWSER_HAWSER_H_
#define HAWSER_HAWSER_H_

#include <nccl.h>
#include <stddef.h>
#include <stdint.h>

#if NCCL_VERSION_CODE < 23203
#error "an older nccl.h comes first on the include path: put the one installed beside this header before it"
#endif

#define HAWSER_VERSION_MAJOR {major}
#define HAWSER_VERSION_MINOR {minor}
#define HAWSER_VERSION_PATCH {patch}
#define HAWSER_VERSION "{major}.{minor}.{patch}"

#ifdef __cplusplus
extern "C" {{
#endif

{host}

// Calls of NCCL's device header, nccl_device.h. It defines these records; here they are only named.
{chr(10).join(tag + ";" for tag in tags)}

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
{device}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}}
#endif

#endif  // HAWSER_HAWSER_H_
"""


def face_source(all_calls):
    bodies = []
    for call in all_calls:
        jump = f"{'' if call.returns == 'void' else 'return '}{call.twin}({call.arguments});"
        if call.name == "ncclResetDebugInitInternal":
            bodies.append(f"{call.returns} {call.name}({call.signature}) {{ {jump} }}")
            continue
        bodies.append(f"{call.returns} p{call.name}({call.signature}) {{ {jump} }}\nHAWSER_WEAK_NAME({call.name})")
    names = "\n\n".join(bodies)
    return f"""{SPDX}// libnccl.so.2: NCCL's names, each a jump to its twin in libhawser.so.0. As in NCCL the strong name is pnccl*, and nccl*
// is a weak second name of the same code, so that a profiler may define its own.
// {MADE}

#include "nccl_face.h"

{names}
"""


def implemented_twins():
    """hawser* names that a file of src/api defines by hand."""
    names = set()
    for path in sorted((ROOT / "src/api").glob("*.cpp")):
        if path.name != "unsupported.cpp":
            names.update(re.findall(r"^\w[\w: *&]*\b(hawser\w+)\(", path.read_text(), re.MULTILINE))
    return names


def unsupported_source(all_calls):
    by_hand = implemented_twins()
    bodies = []
    for call in all_calls:
        if call.twin not in by_hand:
            kinds = ", ".join(kind for kind, _ in call.parameters)
            bodies.append(f'{call.returns} {call.twin}({kinds}) {{ return missing<{call.returns}>("{call.name}"); }}')
    names = "\n".join(bodies)
    return f"""{SPDX}// Calls that are exported but not there yet: each says so in ncclGetLastError() and returns what its type allows.
// {MADE}
#include "api/exports.h"
#include "api/missing.h"

using hawser::api::missing;

{names}
"""


def formatted(text, path):
    command = ["clang-format", f"--assume-filename={path}"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is not as it would be")
    check = parser.parse_args().check
    if shutil.which("clang-format") is None:
        print("skipped: clang-format, which gives these files their final form, is not installed")
        return 77
    all_calls = calls()
    makers = {
        "include/hawser/hawser.h": hawser_header,
        "src/api/nccl_face.c": face_source,
        "src/api/unsupported.cpp": unsupported_source,
    }
    stale = []
    for path, make in makers.items():
        text = formatted(make(all_calls), path)
        target = ROOT / path
        if check and (not target.exists() or target.read_text() != text):
            stale.append(path)
        if not check:
            target.write_text(text)
    for path in stale:
        print(f"{path} is not what tools/generate_api.py writes: run it")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
