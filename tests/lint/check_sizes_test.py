# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
import unittest

import check_sizes


def lines_of(text):
    return {function.name: function.lines for function in check_sizes.cpp_functions(text)}


def function_of(lines, name="f"):
    return f"int {name}() {{\n" + "  g();\n" * (lines - 2) + "}\n"


def rules_of(path, text, exceptions=None):
    return [finding.rule for finding in check_sizes.check_file(path, text, exceptions or {})]


class CppFunctions(unittest.TestCase):
    def test_counts_from_brace_to_brace(self):
        self.assertEqual(lines_of("int f(int a,\n      int b) {\n  return a;\n}\n"), {"f": 3})

    def test_looks_into_namespaces_classes_and_templates(self):
        text = ("namespace a::b {\nnamespace {\ntemplate <class T, class U = X<T>>\nclass C final : public B<T> {\n"
                " public:\n  int one() const noexcept {\n    return 1;\n  }\n  template <class V>\n  auto two(V v) -> int {\n"
                "    return v;\n  }\n};\n}\n}\nextern \"C\" {\nint three(void) {\n  return 3;\n}\n}\n")
        self.assertEqual(lines_of(text), {"one": 3, "two": 3, "three": 3})

    def test_ignores_braces_in_comments_strings_and_directives(self):
        text = ('#define OPEN {\nint f() {\n  // }\n  /* } */\n  g("}", \'}\', 1\'000);\n  g(R"x(\n}\n)x");\n}\nint h() {\n}\n')
        self.assertEqual(lines_of(text), {"f": 8, "h": 2})

    def test_values_are_no_functions(self):
        text = ("constexpr std::array k = {\n  Row{{1, 2}, f(3)},\n};\nstruct S {\n  int a{0};\n  void f(O o = {}) {\n  }\n"
                "};\nenum class E : int {\n  kA,\n};\n")
        self.assertEqual(lines_of(text), {"f": 2})

    def test_member_initialisers_belong_to_the_constructor(self):
        text = "C::C(int a) : a_{a}, b_(std::vector<int>{1}), c_{} {\n  g();\n}\nint C::last() const {\n  return 1;\n}\n"
        self.assertEqual(lines_of(text), {"C::C": 3, "C::last": 3})

    def test_lambdas_count_towards_their_function(self):
        self.assertEqual(lines_of("int f() {\n  auto g = [](int a) {\n    return a;\n  };\n  return g(1);\n}\n"), {"f": 6})

    def test_alignment_is_no_function(self):
        self.assertEqual(lines_of("struct alignas(64) Line {\n  int a = 0;\n};\n"), {})


class Limits(unittest.TestCase):
    def test_a_function_may_have_a_hundred_lines(self):
        self.assertEqual(rules_of("src/a.cpp", function_of(100)), [])
        self.assertEqual(rules_of("src/a.cpp", function_of(101)), ["function-size"])

    def test_python_functions_are_measured(self):
        body = "def f():\n" + "    g()\n" * 100
        self.assertEqual(rules_of("tools/a.py", body), ["function-size"])

    def test_files_and_headers_have_limits(self):
        self.assertEqual(rules_of("src/a.cpp", "\n" * 600), [])
        self.assertEqual(rules_of("src/a.cpp", "\n" * 601), ["file-size"])
        self.assertEqual(rules_of("src/a.h", "\n" * 200), [])
        self.assertEqual(rules_of("src/a.h", "\n" * 201), ["file-size"])

    def test_an_exception_raises_its_limit_only(self):
        exceptions = {("function-size", "src/a.cpp:f"): 120, ("file-size", "src/a.h"): 300}
        self.assertEqual(rules_of("src/a.cpp", function_of(120), exceptions), [])
        self.assertEqual(rules_of("src/a.cpp", function_of(121), exceptions), ["function-size"])
        self.assertEqual(rules_of("src/a.cpp", function_of(101, "g"), exceptions), ["function-size"])
        self.assertEqual(rules_of("src/a.h", "\n" * 301, exceptions), ["file-size"])


if __name__ == "__main__":
    unittest.main()
