# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
import unittest

import tidy_files

TEXTS = {
    "src/plan/plan.cpp": '#include "plan/plan.h"\n',
    "src/plan/print.cpp": '#include "plan/plan.h"\n#include "plan/cut.h"\n',
    "tests/plans/plan_test.cpp": '#include "base/status.h"\n',
}


def units_for(path):
    return tidy_files.units_for(path, set(TEXTS), TEXTS.__getitem__)


class Units(unittest.TestCase):
    def test_a_unit_stands_for_itself(self):
        self.assertEqual(units_for("src/plan/print.cpp"), ["src/plan/print.cpp"])

    def test_a_header_is_read_in_its_namesake_or_in_a_unit_that_includes_it(self):
        self.assertEqual(units_for("src/plan/plan.h"), ["src/plan/plan.cpp"])
        self.assertEqual(units_for("src/plan/cut.h"), ["src/plan/print.cpp"])
        self.assertEqual(units_for("src/base/status.h"), ["tests/plans/plan_test.cpp"])

    def test_what_no_unit_knows_is_not_read(self):
        for path in ("README.md", "src/plan/gone.cpp", "src/plan/lonely.h", "perf/peers/peer.c"):
            self.assertEqual(units_for(path), [], path)

    def test_the_library_comes_first_and_tests_last(self):
        units = ["tests/a.cpp", "perf/a.cpp", "src/b.cpp", "kernels/z.cpp"]
        self.assertEqual(sorted(units, key=tidy_files.library_first),
                         ["kernels/z.cpp", "src/b.cpp", "perf/a.cpp", "tests/a.cpp"])


if __name__ == "__main__":
    unittest.main()
