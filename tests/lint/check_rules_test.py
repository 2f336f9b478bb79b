# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
import unittest

import check_rules

HEAD = "// SPDX-FileCopyrightText: The Hawser authors\n// SPDX-License-Identifier: Apache-2.0\n"


def rules_of(path, body, head=HEAD, exceptions=None):
    return [finding.rule for finding in check_rules.check_file(path, head + body, exceptions or {})]


class Headers(unittest.TestCase):
    def test_both_spdx_lines_are_needed_in_every_source(self):
        for path in ("src/a.cpp", "tools/a.py", "src/CMakeLists.txt", "cmake/A.cmake", "dev", ".ci/run"):
            self.assertEqual(rules_of(path, "", HEAD.replace("//", "#")), [], path)
            self.assertEqual(rules_of(path, "", "#!/bin/sh\n" + HEAD.replace("//", "#")), [], path)
            self.assertEqual(rules_of(path, "", HEAD.splitlines()[0] + "\n"), ["spdx"], path)
        self.assertEqual(rules_of("docs/a.md", "", ""), [])

    def test_headers_say_pragma_once(self):
        self.assertEqual(rules_of("src/a.h", "#pragma once\n"), [])
        self.assertEqual(rules_of("src/a.h", ""), ["pragma-once"])
        self.assertEqual(rules_of("kernels/a-inl.h", ""), [])
        self.assertEqual(rules_of("include/nccl.h", "#ifndef NCCL_H_\n#endif\n"), [])


class Includes(unittest.TestCase):
    def test_no_include_climbs(self):
        self.assertEqual(rules_of("src/a.cpp", '#include "../b.h"\n'), ["parent-include"])
        self.assertEqual(rules_of("src/a.cpp", '#include "base/b.h"\n'), [])

    def test_conditionals_have_their_places(self):
        for directive in ("#if X\n", "# ifdef X\n", "#ifndef X\n", "#elif X\n"):
            self.assertEqual(rules_of("src/plan/a.cpp", directive), ["conditional"], directive)
            for path in ("kernels/a.cpp", "src/device/drivers/a.cpp", "include/nccl.h", "tests/a.cpp"):
                self.assertEqual(rules_of(path, "#pragma once\n" + directive), [], path)
        self.assertEqual(rules_of("src/plan/a.cpp", "// #if in a comment\n"), [])


class Library(unittest.TestCase):
    def test_what_a_library_may_not_do(self):
        for line, rule in (("  std::abort();", "no-exit"), ("  if (bad) exit(1);", "no-exit"),
                           ('  std::printf("x");', "no-print"), ('  fmt::print("x");', "no-print"),
                           ("  std::cerr << 1;", "no-print"), ("  throw 1;", "no-throw"), ("  goto end;", "no-goto"),
                           ("  volatile int a;", "no-volatile"), ("using namespace std;", "no-using-namespace"),
                           ('  std::getenv("A");', "environment")):
            self.assertEqual(rules_of("src/plan/a.cpp", line + "\n"), [rule], line)
            self.assertEqual(rules_of("perf/a.cpp", line + "\n"), [], line)

    def test_names_that_only_look_alike_pass(self):
        for line in ("  Status abort();", "  comm.abort();", "  comm->abort();", "std::string print(const Plan& plan);",
                     "  // throw nothing", '  info("goto");', '  asm volatile("" ::: "memory");', "  snprintf(a, 1, b);"):
            self.assertEqual(rules_of("src/plan/a.cpp", line + "\n"), [], line)

    def test_one_file_reads_the_environment(self):
        self.assertEqual(rules_of("src/base/config.cpp", '  std::getenv("A");\n'), [])


class Text(unittest.TestCase):
    def test_a_todo_names_an_issue(self):
        self.assertEqual(rules_of("src/a.cpp", "// TODO(#12): more\n"), [])
        for line in ("// TODO: more\n", "// TODO(me): more\n", "// FIXME\n"):
            self.assertEqual(rules_of("src/a.cpp", line), ["todo"], line)

    def test_paths_of_a_machine_are_found_in_any_text(self):
        for path in ("docs/a.md", "src/a.cpp"):
            self.assertEqual(rules_of(path, "see /home/somebody/hawser\n"), ["machine-path"])
            self.assertEqual(rules_of(path, "see docs/work/x and /usr/lib and https://a.org/home/x\n"), [])

    def test_an_exception_is_for_one_rule_of_one_file(self):
        exceptions = {("todo", "src/a.cpp"): None}
        self.assertEqual(rules_of("src/a.cpp", "// FIXME\n", exceptions=exceptions), [])
        self.assertEqual(rules_of("src/b.cpp", "// FIXME\n", exceptions=exceptions), ["todo"])


if __name__ == "__main__":
    unittest.main()
