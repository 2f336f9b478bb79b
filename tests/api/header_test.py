#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""include/nccl.h and include/hawser/hawser.h against the facts about NCCL: from them a program is made whose compilation
and run compare every record, constant, macro, initialiser and signature, in C99 and C++11, without a CUDA toolkit and
with one."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import abi

INCLUDE = abi.ROOT / "include"
CUDA = pathlib.Path(os.environ.get("HAWSER_TEST_CUDA", "/usr/local/cuda"))
LANGUAGES = {"c99": (os.environ.get("CC", "cc"), "c"), "c++11": (os.environ.get("CXX", "c++"), "c++")}
DEVICE_ONLY = {name for name, call in abi.FACTS["functions"].items() if call["header"] != "nccl.h"}
# In NCCL's own header it is hidden behind a condition, so that the facts have it from elsewhere.
DEVICE_ONLY.discard("ncclResetDebugInit")


def record_checks():
    for name, shape in abi.latest_records().items():
        kind = name if name.endswith("_t") or name == "ncclUniqueId" else f"struct {name}"
        yield f"sizeof({kind}) == {shape['size']}"
        yield f"__alignof__({kind}) == {shape['align']}"
        stem = re.sub(r"_v\d+$", "", name)
        if kind.startswith("struct "):
            yield f"sizeof({stem}_t) == {shape['size']}"
        for field, text, offset in abi.fields(shape):
            yield f"offsetof({kind}, {field}) == {offset}"
            aggregate = re.fullmatch(r"(?:struct|union) of (\d+) bytes|char\[(\d+)\]", text)
            if aggregate:
                yield f"sizeof((({kind}*)0)->{field}) == {aggregate[1] or aggregate[2]}"
            else:
                yield f"HAS_TYPE({kind}, {field}, {text})"


def constant_checks():
    for name, value in abi.constants().items():
        yield f"(long long){name} == {value if value > -2**31 else '(-2147483647 - 1)'}"
    for part, value in zip(("MAJOR", "MINOR", "PATCH"), abi.LATEST.split(".")):
        yield f"NCCL_{part} == {value}"
    yield f"NCCL_VERSION_CODE == {abi.version_code(abi.LATEST)}"
    yield "NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH) == NCCL_VERSION_CODE"


def macro_checks():
    """(definitions, conditions for run time)."""
    definitions, conditions = [], []
    for name, (_, tokens) in abi.FACTS["macros"].items():
        if tokens.startswith("( X , Y , Z )"):
            definitions.append(f"#define FACT_{name}(X, Y, Z) {tokens[len('( X , Y , Z )'):]}")
            conditions += [f"{name}({v}) == FACT_{name}({v})" for v in ("2, 8, 4", "2, 9, 6", "2, 32, 3", "3, 1, 2")]
        else:
            definitions.append(f"#define FACT_{name} {tokens}")
            conditions.append(f"{name} == FACT_{name}")
    return definitions, conditions


def initialiser_checks():
    """Blocks of code for run time: each member of a record that the macro made against one made from the facts."""
    kinds = {"NCCL_CONFIG_INITIALIZER": "ncclConfig", "NCCL_SIM_INFO_INITIALIZER": "ncclSimInfo",
             "NCCL_COLLCONFIG_INITIALIZER": "ncclCollConfig", "NCCL_ENCRYPTION_CONFIG_INITIALIZER": "ncclEncryptionConfig"}
    records = abi.latest_records()
    assert set(kinds) == set(abi.FACTS["initialisers"])
    for macro, stem in kinds.items():
        shape = next(shape for name, shape in records.items() if name.startswith(stem + "_v"))
        values = abi.initialiser(macro, abi.LATEST)
        assert len(values) == len(shape["fields"]), (macro, values)
        checks = "".join(f"    CHECK(ours.{field} == facts.{field});\n" for field, _, _ in abi.fields(shape))
        yield f"  {{\n    {stem}_t ours = {macro};\n    {stem}_t facts = {{{', '.join(values)}}};\n{checks}  }}\n"


def pointer_type(call, name):
    return f"{call['returns']} (*{name})({', '.join(call['takes']) or 'void'})"


def declaration_checks():
    for name, call in abi.FACTS["functions"].items():
        if name in DEVICE_ONLY:
            continue
        twins = (name, "p" + name, "hawser" + name[len("nccl"):])
        for twin in twins:
            yield f"extern {pointer_type(call, f'check_{twin}')};\n{pointer_type(call, f'check_{twin}')} = {twin};"
    for name in abi.symbols():
        twin = "hawser" + name[len("nccl"):]
        yield f"void use_{twin}(void);\nvoid use_{twin}(void) {{ (void)sizeof(&{twin}); }}"


PROLOGUE = """#include <hawser/hawser.h>
#include <stddef.h>
#include <stdio.h>
#ifdef __cplusplus
#include <type_traits>
#define HAS_TYPE(record, member, type) std::is_same<decltype(record::member), type>::value
#else
#define HAS_TYPE(record, member, type) __builtin_types_compatible_p(__typeof__(((record*)0)->member), type)
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
"""


def declarations_source():
    static = [f"typedef char fact_{i}[({condition}) ? 1 : -1];"
              for i, condition in enumerate([*record_checks(), *constant_checks()])]
    # In C++ HAS_TYPE takes a type name without its keyword.
    text = PROLOGUE + "\n".join([*static, *declaration_checks()]) + "\n"
    return text.replace("HAS_TYPE(struct ", "HAS_TYPE(TAG ").replace(
        '#pragma GCC', '#ifdef __cplusplus\n#define TAG\n#else\n#define TAG struct\n#endif\n#pragma GCC', 1)


def values_source():
    definitions, conditions = macro_checks()
    checks = "".join(f"  CHECK({condition});\n" for condition in conditions)
    return (PROLOGUE + "\n".join(definitions) +
            "\nstatic int failures = 0;\n#define CHECK(condition) \\\n"
            "  do { if (!(condition)) { printf(\"not so: %s\\n\", #condition); ++failures; } } while (0)\n"
            f"int main(void) {{\n{checks}{''.join(initialiser_checks())}"
            "  printf(\"%d differences\\n\", failures);\n  return failures != 0;\n}\n")


def has_toolkit(directory):
    return (pathlib.Path(directory) / "cuda_runtime.h").exists()


def system_directories(compiler, language):
    """Where the compiler looks by itself, less the places with a CUDA toolkit."""
    command = [compiler, "-x", language, "-E", "-v", "/dev/null"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    listed = text.split("#include <...> search starts here:")[1].split("End of search list.")[0].split()
    return [directory for directory in listed if not has_toolkit(directory)]


class Header(unittest.TestCase):

    def compile_and_run(self, standard, options):
        compiler, language = LANGUAGES[standard]
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused"]
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("declarations", declarations_source()), ("values", values_source())):
                source = pathlib.Path(folder) / f"{name}.{'c' if language == 'c' else 'cpp'}"
                source.write_text(text)
                action = ["-c"] if name == "declarations" else []
                command = [compiler, f"-std={standard}", *strict, *options, f"-I{INCLUDE}", *action, source, "-o", f"{folder}/{name}"]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{' '.join(map(str, command))}\n{done.stderr[:4000]}")
            done = subprocess.run([f"{folder}/values"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_without_a_toolkit_by_choice(self):
        for standard in LANGUAGES:
            with self.subTest(standard):
                self.compile_and_run(standard, ["-DHAWSER_NO_CUDA_HEADERS"])

    def test_without_a_toolkit_because_there_is_none(self):
        for standard, (compiler, language) in LANGUAGES.items():
            with self.subTest(standard):
                places = [f"-isystem{directory}" for directory in system_directories(compiler, language)]
                self.compile_and_run(standard, ["-nostdinc", *places])

    def test_with_a_toolkit(self):
        if not has_toolkit(CUDA / "include"):
            self.skipTest(f"there is no CUDA toolkit in {CUDA}")
        for standard in LANGUAGES:
            with self.subTest(standard):
                self.compile_and_run(standard, [f"-isystem{CUDA}/include"])

    def test_device_calls_are_left_to_the_device_header(self):
        text = re.sub(r"//.*", "", (INCLUDE / "nccl.h").read_text())
        self.assertEqual([name for name in DEVICE_ONLY if re.search(rf"\b{name}\b", text)], [])

    def test_device_records_that_calls_pass_by_value(self):
        text = (abi.ROOT / "src/api/device_types.h").read_text()
        facts = abi.FACTS["device_header"][abi.LATEST]["records"]
        names = re.findall(r"^struct (\w+) {", text, re.MULTILINE)
        self.assertEqual(set(names), {"ncclTeam", "ncclMultimemHandle"})
        lines = [f'#include "{abi.ROOT}/src/api/device_types.h"', "#include <stddef.h>"]
        for number, name in enumerate(names):
            lines.append(f"typedef char size_{number}[sizeof(struct {name}) == {facts[name]['size']} ? 1 : -1];")
            lines += [f"typedef char at_{number}_{field}[offsetof(struct {name}, {field}) == {offset} ? 1 : -1];"
                      for field, _, offset in abi.fields(facts[name])]
        command = [LANGUAGES["c99"][0], "-std=c99", "-fsyntax-only", "-x", "c", "-"]
        done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_facts_tell_a_wrong_header(self):
        """The comparison is worth something: it fails for each of these changes."""
        changes = ((r"ncclTimeout = 8", "ncclTimeout = 7"), (r"int numRmaSig; ", "long numRmaSig;"),
                   (r"0x74685283", "0x74685284"), (r"const int\* devlist\);", "int* devlist);"),
                   (r"NCCL_WIN_GIN_ONLY 0x04", "NCCL_WIN_GIN_ONLY 0x10"), (r"char internal\[", "unsigned char internal[2*"))
        original = (INCLUDE / "nccl.h").read_text()
        for old, new in changes:
            with self.subTest(old), tempfile.TemporaryDirectory() as folder:
                text, count = re.subn(old, new, original)
                self.assertGreater(count, 0)
                (pathlib.Path(folder) / "nccl.h").write_text(text)
                shutil.copytree(INCLUDE / "hawser", pathlib.Path(folder) / "hawser")
                with self.assertRaises(self.failureException):
                    self.compile_and_run("c99", ["-DHAWSER_NO_CUDA_HEADERS", f"-I{folder}"])


if __name__ == "__main__":
    abi.main()
