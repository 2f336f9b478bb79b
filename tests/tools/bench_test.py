# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""perf/bench.py: its arithmetic, and that launches which fail or hang are dropped with a reason."""
import contextlib
import io
import json
import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import bench  # noqa: E402


def program(folder, name, script):
    path = pathlib.Path(folder) / name
    path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def contender(name, values, is_ours=False):
    return bench.Contender(name, [], is_ours=is_ours, values=values)


def probe(times, rates=None):
    made = bench.Probe("none")
    made.times, made.rates = times, rates or {}
    return made


class Sizes(unittest.TestCase):
    def test_parse_and_show(self):
        self.assertEqual([bench.parse_size(text) for text in ("8", "4K", "1m", "2G")], [8, 4096, 1 << 20, 2 << 30])
        self.assertEqual([bench.show_size(size) for size in (8, 4096, 1 << 20, 1536)], ["8 B", "4 KiB", "1 MiB", "1536 B"])
        for text in ("", "x", "1KB"):
            self.assertRaises(ValueError, bench.parse_size, text)

    def test_arguments(self):
        options = bench.parse_arguments(["--sizes", "64K,8", "--ranks", "2,4"])
        self.assertEqual((options.sizes, options.ranks, options.launches), ([8, 65536], [2, 4], 5))
        self.assertEqual(bench.parse_arguments(["--quick"]).launches, 2)


class Cells(unittest.TestCase):
    def test_median_spread_best_peer_and_limit(self):
        group = [contender("hawser malloc", {8: [1.0, 3.0, 2.0]}, is_ours=True), contender("openmpi", {8: [4.0, 5.0, 9.0]}),
                 contender("mpich", {8: [6.0]})]
        cell, = bench.make_cells(group, probe({("flag_barrier", 0): [0.5, 1.5]}), 2, False, [8])
        self.assertEqual((cell["time_us"], cell["spread"], cell["best_peer"], cell["ratio"]), (2.0, 1.0, "openmpi", 2.5))
        self.assertEqual((cell["limit_us"], cell["of_limit"], cell["memory"]), (1.0, 0.5, "malloc"))

    def test_limit_is_the_better_push(self):
        times = {("push", 4096): [5.0, 7.0], ("push_nt", 4096): [4.0], ("flag_barrier", 0): [0.1]}
        self.assertEqual(probe(times).limit(4096), 4.0)
        self.assertEqual(probe(times).limit(8), 0.1)
        self.assertIsNone(probe(times).limit(8192))

    def test_cells_without_peers_or_ours(self):
        ours = contender("hawser mem", {8: [1.0]}, is_ours=True)
        cell, = bench.make_cells([ours], probe({}), 4, True, [8, 64])
        self.assertEqual((cell["ratio"], cell["limit_us"], cell["variant"]), (None, None, "touch"))
        self.assertEqual(bench.make_cells([contender("mpich", {8: [1.0]})], probe({}), 2, False, [8]), [])

    def test_table_and_summary(self):
        group = [contender("hawser malloc", {8: [2.0], 64: [1.0]}, is_ours=True), contender("mpich", {8: [1.0], 64: [9.0]})]
        rates = {("cross_line", 4 << 20): [2.0, 3.0, 20.0]}
        cells = bench.make_cells(group, probe({}), 2, False, [8, 64])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            bench.show_cells(cells, ["mpich"])
            bench.show_summary(cells, probe({}, rates))
        lines = out.getvalue().splitlines()
        self.assertTrue(lines[2].endswith("<") and not lines[3].endswith("<"), lines)
        # Ratios 0.5 and 9, the latter clipped to 3.
        self.assertIn("geometric mean 1.22 over 2 cells; 1 below 0.9", out.getvalue())
        self.assertIn("1 of 3 launches at 8 or more: the state is bad", out.getvalue())


class Launches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def launch(self, script, timeout=30):
        made = bench.Contender("x", [program(self.folder, "x", script)])
        made.launch([8, 64], timeout)
        return made

    def test_values_come_from_the_report(self):
        report = {"results": [{"size": 8, "out_of_place": {"time": 1.5}}, {"size": 64, "out_of_place": {"time": 2}}]}
        made = self.launch(f"test \"$1 $2 $3\" = '--sizes 8,64 -J' && echo '{json.dumps(report)}' > \"$4\"")
        self.assertEqual((made.values, made.dropped), ({8: [1.5], 64: [2]}, ""))

    def test_failure_is_a_reason(self):
        made = self.launch("echo first; echo last; exit 3")
        self.assertEqual((made.values, made.dropped), ({}, "exit code 3: last"))

    def test_hang_is_a_reason(self):
        self.assertEqual(self.launch("exec sleep 1000", timeout=0.2).dropped, "took longer than 0.2 s")

    def test_probe(self):
        made = bench.Probe(program(self.folder, "probe", "echo 'push 4096 2.50 us 1.60 GB/s'; echo 'flag_barrier 0 0.1 us 0 GB/s'"))
        made.launch([8, 4096], 30)
        made.launch([8, 4096], 30)
        self.assertEqual(made.times, {("push", 4096): [2.5, 2.5], ("flag_barrier", 0): [0.1, 0.1]})

    def test_missing_build(self):
        self.assertRaisesRegex(bench.Failure, "--build", bench.find_build, self.folder)


if __name__ == "__main__":
    unittest.main()
