# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""all_reduce_perf as a user meets it: table, report, exit codes, ways to launch it, and that it sees what is wrong."""
import json
import os
import re
import subprocess
import tempfile
import unittest

RUN = os.environ["HAWSER_TEST_RUN"]
PERF = os.environ["HAWSER_TEST_PERF"]
LIMIT = 60  # seconds that one launch may take
# Sanitizers' run-time libraries must come before any preloaded one.
CAN_PRELOAD = not os.environ.get("HAWSER_TEST_SANITIZE")

ROW = re.compile(r"\s+(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)(?:\s+([\d.e+]+)\s+([\d.e+]+)\s+([\d.e+]+)\s+(\S+)){2}")


def launch(*arguments, ranks=2, environment=None):
    command = ([RUN, "-n", str(ranks)] if ranks else []) + [PERF, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, **(environment or {})})


def rows(output):
    return [line for line in output.splitlines() if line and not line.startswith("#")]


class Table(unittest.TestCase):
    def test_rows(self):
        done = launch("-b", "8", "-e", "32K", "-f", "8", "-n", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = rows(done.stdout)
        self.assertEqual([int(line.split()[0]) for line in lines], [8, 64, 512, 4096, 32768])
        for line in lines:
            self.assertIsNotNone(ROW.fullmatch(line), line)
            columns = line.split()
            self.assertEqual(columns[2:5], ["float", "sum", "-1"])
            self.assertEqual(int(columns[1]) * 4, int(columns[0]))
            self.assertEqual((columns[8], columns[12]), ("0", "0"))
            self.assertGreater(float(columns[5]), 0)
        self.assertIn("# Out of bounds values : 0 OK\n", done.stdout)
        self.assertRegex(done.stdout, r"# Avg bus bandwidth    : [\d.e+-]+ \n")
        self.assertRegex(done.stdout, r"#  Rank  1 Group  0 Pid +\d+ on +\S+ device  1 \[0000:00:00\] \S")
        self.assertEqual(done.stderr, "")

    def test_all_types_and_reductions(self):
        for op in ("sum", "prod", "min", "max", "avg"):
            done = launch("-b", "1000", "-e", "1000", "-n", "1", "-d", "all", "-o", op, ranks=3)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(len(rows(done.stdout)), 12)

    def test_no_check_is_not_available(self):
        done = launch("-b", "64", "-e", "64", "-c", "0")
        self.assertEqual([rows(done.stdout)[0].split()[i] for i in (8, 12)], ["N/A", "N/A"])

    def test_adaptive_iterations_touch_and_figures(self):
        for more in ((), ("--touch",), ("--stat", "median"), ("--stat", "min", "--touch"), ("-m", "3"), ("-u", "4"), ("-a", "3")):
            done = launch("--sizes", "8,4K", "-n", "0", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(rows(done.stdout)), 2, more)

    def test_memory_of_the_library(self):
        done = launch("-b", "4K", "-e", "4K", "--alloc", "mem")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cycles(self):
        done = launch("-b", "64", "-e", "64", "-N", "3", "-n", "1")
        self.assertEqual(len(rows(done.stdout)), 3)


class Launchers(unittest.TestCase):
    def test_threads_and_groups_of_one_process(self):
        for more in (("-t", "3"), ("-g", "3"), ("-t", "2", "-g", "2"), ("-t", "2", "-p", "1")):
            done = launch("-b", "1K", "-e", "1K", "-n", "2", *more, ranks=0)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(rows(done.stdout)), 1)

    def test_processes_of_threads_of_groups(self):
        done = launch("-b", "1K", "-e", "1K", "-n", "2", "-t", "2", "-g", "2", ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#  Rank  7 ", done.stdout)

    def test_a_lone_rank(self):
        self.assertEqual(launch("-b", "1K", "-e", "1K", ranks=0).returncode, 0)

    def test_the_variables_of_mpirun(self):
        with tempfile.TemporaryDirectory() as folder:
            processes = [subprocess.Popen([PERF, "-b", "1K", "-e", "1K"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          text=True, env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank),
                                                          "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
                                                          "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "TMPDIR": folder})
                         for rank in range(2)]
            outputs = [process.communicate(timeout=LIMIT) for process in processes]
            self.assertEqual([process.returncode for process in processes], [0, 0], outputs)
            self.assertEqual([len(rows(out)) for out, _ in outputs], [1, 0])
            self.assertEqual(os.listdir(folder), [])


class Report(unittest.TestCase):
    def test_json(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            for name in (path, path + ".0"):
                done = launch("-b", "8", "-e", "64", "-f", "8", "-J", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"# Writing JSON output to {name}\n", done.stdout)
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        self.assertEqual([row["size"] for row in report["results"]], [8, 64])
        self.assertEqual([device["rank"] for device in report["config"]["devices"]], [0, 1])
        for row in report["results"]:
            for half in ("out_of_place", "in_place"):
                self.assertGreater(row[half]["time"], 0)
                self.assertEqual(row[half]["nwrong"], 0)
        self.assertEqual(report["out_of_bounds"], {"count": 0, "okay": "true"})
        self.assertEqual(report["errors"], [])


class ExitCodes(unittest.TestCase):
    def test_command_lines(self):
        for arguments, code in ((("-h",), 0), (("--no-such-option",), 0), (("-b", "x"), 255), (("-b", "8", "-e", "4"), 255),
                                (("-D", "1"), 5)):
            self.assertEqual(launch(*arguments, ranks=0).returncode, code, arguments)

    def test_launcher_that_makes_no_sense(self):
        self.assertEqual(launch(ranks=0, environment={"HAWSER_RANK": "3", "HAWSER_RANKS": "2"}).returncode, 6)

    def test_too_slow(self):
        done = launch("-b", "64", "-e", "64", environment={"NCCL_TESTS_MIN_BW": "1e9"})
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stdout, r"# Avg bus bandwidth    : \S+ FAILED")

    def faulty(self, fault, *arguments):
        if not CAN_PRELOAD:
            self.skipTest("a sanitizer's run-time library must come before any preloaded one")
        return launch("-b", "4K", "-e", "4K", "-n", "1", "-w", "0", *arguments,
                      environment={"HAWSER_TEST_FAULT": fault, "LD_PRELOAD": os.environ["HAWSER_TEST_FAULTY"]})

    def test_wrong_results_are_counted(self):
        # One element per rank; an input that has changed can be seen out of place only.
        for fault, wrong in (("bit", ["2", "2"]), ("overrun", ["2", "2"]), ("input", ["2", "0"])):
            with self.subTest(fault):
                done = self.faulty(fault)
                self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
                columns = rows(done.stdout)[0].split()
                self.assertEqual([columns[8], columns[12]], wrong)
                self.assertRegex(done.stdout, r"# Out of bounds values : \d FAILED")

    def test_failed_calls(self):
        done = self.faulty("error")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"Test NCCL failure worker\.cpp:\d+ '[^/]+ / .*'")

    def test_hanging_calls(self):
        done = self.faulty("hang", "-T", "1")
        # The rank whose peer gave up first may see that as an error of its own.
        self.assertIn(done.returncode, (3, 4), done.stdout + done.stderr)
        self.assertIn("Test timeout (1 s)", done.stderr)


if __name__ == "__main__":
    unittest.main()
