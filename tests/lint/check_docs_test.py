# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import check_docs
import tree


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "src" / "plan").mkdir(parents=True)
        (self.root / "src" / "plan" / "plan.h").touch()
        (self.root / "docs" / "status.md").touch()

    def stale(self, text, page="docs/page.md"):
        return [(finding.line, finding.text) for finding in check_docs.check_page(self.root, page, text)]

    def test_names_of_files_that_exist_pass(self):
        self.assertEqual(self.stale("[status](status.md#bars) `src/plan/plan.h` `src/plan/` `src/*/plan.h`\n"), [])
        self.assertEqual(self.stale("[up](../src/plan/plan.h) [web](https://example.org/x) `plan/plan.h`\n"), [])

    def test_stale_names_are_found_with_their_line(self):
        self.assertEqual(self.stale("fine\n`src/plan/gone.h`\n"), [(2, "there is no src/plan/gone.h")])
        self.assertEqual(self.stale("[x](gone.md)\n"), [(1, "there is no gone.md")])
        self.assertEqual(self.stale("[x](docs/status.md)\n"), [(1, "there is no docs/status.md")])
        self.assertEqual(self.stale("[x](docs/status.md)\n", "README.md"), [])


class Exceptions(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / tree.EXCEPTIONS
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            return tree.exceptions(folder)

    def test_a_line_has_rule_subject_limit_and_reason(self):
        self.assertEqual(self.read("# comment\n\nfile-size a.h 300 -- made by hand\ntodo b.py -- words\n"),
                         {("file-size", "a.h"): 300, ("todo", "b.py"): None})

    def test_a_line_without_a_reason_is_refused(self):
        for line in ("file-size a.h 300\n", "file-size a.h 300 -- \n", "file-size -- why\n"):
            with self.assertRaises(SystemExit):
                self.read(line)


if __name__ == "__main__":
    unittest.main()
