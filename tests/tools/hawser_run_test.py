# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""hawser-run as a user meets it. Ranks are small shell or Python programs."""
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

RUN = os.environ["HAWSER_TEST_RUN"]
LIMIT = 30  # seconds that anything here may take

# A client of HAWSER_RUN_FD, independent of perf/common: put, get, gather.
CLIENT = r"""
import os, socket, struct, sys
rank, ranks = int(os.environ["HAWSER_RANK"]), int(os.environ["HAWSER_RANKS"])
line = socket.socket(fileno=int(os.environ["HAWSER_RUN_FD"]))
def receive(count):
    data = b""
    while len(data) < count:
        piece = line.recv(count - len(data))
        if not piece: raise EOFError
        data += piece
    return data
def ask(verb, body):
    line.sendall(struct.pack("=IBBBB", len(body), verb, 0, 0, 0) + body)
    size, kind, *_ = struct.unpack("=IBBBB", receive(8))
    return kind, receive(size)
def put(key, value): return ask(1, struct.pack("=I", len(key)) + key + value)
def get(key): return ask(2, key)
def gather(value): return ask(3, value)
"""


def run(*arguments, stdin="", timeout=LIMIT, environment=None):
    return subprocess.run([RUN, *arguments], input=stdin, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(environment or {})}, check=False)


def shell(ranks, script, *options, **more):
    return run("-n", str(ranks), *options, "sh", "-c", script, **more)


def python(ranks, script, *options, **more):
    return run("-n", str(ranks), *options, sys.executable, "-c", CLIENT + script, **more)


class Started:
    """A job that runs while the test looks on; ended at the end, whatever happens."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def lines(self, count):
        """The next lines of stdout."""
        found = []
        deadline = time.monotonic() + LIMIT
        while len(found) < count:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            line = os.read(self.process.stdout.fileno(), 65536).decode() if ready else ""
            if not line:
                raise AssertionError(f"{count} lines were expected, these came: {found}")
            found += line.splitlines()
        return found


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(condition):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Output(unittest.TestCase):
    def test_rank_0_as_it_is_others_labelled(self):
        done = shell(3, 'echo "rank $HAWSER_RANK of $HAWSER_RANKS"; echo "local $HAWSER_LOCAL_RANK of $HAWSER_LOCAL_RANKS"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted([
            "rank 0 of 3", "local 0 of 3", "[1] rank 1 of 3", "[1] local 1 of 3", "[2] rank 2 of 3", "[2] local 2 of 3"]))

    def test_label_labels_all_and_streams_stay_apart(self):
        done = shell(2, "echo out; echo error >&2", "--label")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out", "[1] out"])
        self.assertEqual(sorted(done.stderr.splitlines()), ["[0] error", "[1] error"])

    def test_no_line_is_cut_by_another(self):
        script = ('import sys\nfor i in range(300):\n  text = f"{rank}:{i}:" + chr(97 + rank) * (i % 97)\n'
                  '  for part in (text[:len(text) // 2], text[len(text) // 2:] + "\\n"):\n'
                  '    sys.stdout.write(part); sys.stdout.flush()\n')
        done = python(4, script, "--label")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 1200)
        for line in lines:
            match = re.fullmatch(r"\[(\d)\] (\d):(\d+):([a-d]*)", line)
            self.assertIsNotNone(match, line)
            rank = int(match[1])
            self.assertEqual((match[2], match[4]), (str(rank), chr(97 + rank) * (int(match[3]) % 97)))

    def test_last_line_without_end(self):
        self.assertEqual(shell(1, "printf abc").stdout, "abc")
        self.assertEqual(shell(1, "printf abc", "--label").stdout, "[0] abc\n")

    def test_output_of_what_died_is_kept(self):
        done = shell(2, 'echo "last words $HAWSER_RANK"; kill -KILL $$')
        self.assertIn("last words 0", done.stdout)

    def test_stdin_goes_to_rank_0_only(self):
        done = shell(3, 'echo "got $(cat)"', stdin="hello\n")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[1] got ", "[2] got ", "got hello"])

    def test_reader_that_goes_away_ends_the_job(self):
        with Started("-n", "2", "yes") as job:
            job.lines(1)
            job.process.stdout.close()
            self.assertEqual(job.process.wait(LIMIT), 128 + signal.SIGPIPE)
            job.process.stdout = None


class Ends(unittest.TestCase):
    def test_exit_code_is_that_of_the_rank_that_failed(self):
        done = shell(3, 'test $HAWSER_RANK != 1 || exit 7; exec sleep 1000')
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"rank 1 \(pid \d+\) exited with code 7; ending the other ranks")

    def test_death_by_a_signal(self):
        done = shell(3, 'test $HAWSER_RANK != 2 || kill -SEGV $$; exec sleep 1000')
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(done.stderr, r"rank 2 \(pid \d+\) was ended by signal 11 \(Segmentation fault\)")

    def test_a_rank_that_ends_well_ends_nobody(self):
        done = shell(2, 'test $HAWSER_RANK != 0 || exit 0; sleep 0.2; echo later')
        self.assertEqual((done.returncode, done.stdout), (0, "[1] later\n"))

    def test_ranks_that_ignore_sigterm_are_killed_after_two_seconds(self):
        start = time.monotonic()
        done = shell(2, 'test $HAWSER_RANK != 1 || exit 3; trap "" TERM; while :; do sleep 0.1; done')
        self.assertEqual(done.returncode, 3)
        self.assertGreater(time.monotonic() - start, 1.5)

    def test_stopped_ranks_end_too(self):
        done = shell(2, 'test $HAWSER_RANK != 1 || { sleep 0.2; exit 3; }; kill -STOP $$')
        self.assertEqual(done.returncode, 3)

    def test_timeout(self):
        done = shell(2, "exec sleep 1000", "--timeout", "0.3")
        self.assertEqual(done.returncode, 124)
        self.assertIn("time limit", done.stderr)

    def test_what_cannot_run(self):
        self.assertEqual(run("-n", "2", "/no/such/program").returncode, 127)
        self.assertEqual(run("-n", "2", "/").returncode, 126)
        self.assertEqual(run("-n", "0", "true").returncode, 125)
        self.assertEqual(run("--nonsense").returncode, 125)
        self.assertEqual(run("--help").returncode, 0)

    def test_what_a_rank_leaves_behind_ends_with_the_job(self):
        done = shell(2, 'sleep 1000 >/dev/null 2>&1 & echo $!')
        self.assertEqual(done.returncode, 0)
        pids = [int(line.split()[-1]) for line in done.stdout.splitlines()]
        self.assertEqual(len(pids), 2)
        self.assertTrue(wait_until(lambda: not any(map(is_running, pids))))


class Signals(unittest.TestCase):
    SCRIPT = 'trap "echo got it; exit {code}" {name}; echo $$; while :; do sleep 0.05; done'

    def forward(self, name, code):
        with Started("-n", "2", "--label", "sh", "-c", self.SCRIPT.format(name=name, code=code)) as job:
            job.lines(2)  # the trap stands before the line is written
            job.process.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(sorted(job.lines(2)), ["[0] got it", "[1] got it"])
            return job.process.wait(LIMIT)

    def test_forwarded(self):
        for name in ("INT", "TERM", "HUP", "USR1"):
            with self.subTest(name):
                self.assertEqual(self.forward(name, 0), 0)

    def test_exit_code_after_a_signal(self):
        with Started("-n", "2", "sh", "-c", "echo ready; exec sleep 1000") as job:
            job.lines(2)
            job.process.send_signal(signal.SIGINT)
            self.assertEqual(job.process.wait(LIMIT), 128 + signal.SIGINT)

    def test_the_second_ends_ranks_that_ignore_the_first(self):
        with Started("-n", "1", "sh", "-c", 'trap "echo ignored" INT; echo ready; while :; do sleep 0.05; done') as job:
            job.lines(1)
            job.process.send_signal(signal.SIGINT)
            self.assertEqual(job.lines(1), ["ignored"])
            job.process.send_signal(signal.SIGINT)
            self.assertEqual(job.process.wait(LIMIT), 128 + signal.SIGTERM)

    def test_ranks_die_with_hawser_run(self):
        with Started("-n", "3", "sh", "-c", "echo $$; exec sleep 1000") as job:
            pids = [int(line.split()[-1]) for line in job.lines(3)]
            self.assertTrue(all(map(is_running, pids)))
            job.process.kill()
            self.assertTrue(wait_until(lambda: not any(map(is_running, pids))))


class Exchange(unittest.TestCase):
    def test_the_unique_id_reaches_everybody(self):
        done = python(4, 'if rank == 0: put(b"id", b"\\0secret\\n")\nprint(get(b"id"))', "--label")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] (0, b'\\x00secret\\n')" for rank in range(4)])

    def test_gather(self):
        done = python(3, 'for i in range(100): kind, value = gather(b"x" * rank + bytes([i]))\nprint(kind, value)', "--label")
        self.assertEqual(done.returncode, 0, done.stderr)
        value = b"".join(struct.pack("=I", rank + 1) + b"x" * rank + bytes([99]) for rank in range(3))
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] 0 {value}" for rank in range(3)])

    def test_malformed_frames_cost_one_rank_its_connection_only(self):
        frames = {"unknown verb": 'struct.pack("=IBBBB", 0, 9, 0, 0, 0)', "a body of": 'b"\\xff" * 4 + b"\\3\\0\\0\\0"',
                  "reserved": 'struct.pack("=IBBBB", 0, 3, 0, 1, 0)', "key": 'struct.pack("=IBBBBI", 4, 1, 0, 0, 0, 99)'}
        for word, frame in frames.items():
            with self.subTest(word):
                done = python(3, f'''
if rank == 1:
    line.sendall({frame})
    try: receive(1)
    except (EOFError, ConnectionResetError): print("closed")
    sys.exit(0)
if rank == 0: put(b"k", b"v")
print(get(b"k"), gather(b"")[0])
''', "--label")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(done.stdout.splitlines()), ["[0] (0, b'v') 1", "[1] closed", "[2] (0, b'v') 1"])
                self.assertRegex(done.stderr, f"rank 1 broke the protocol of HAWSER_RUN_FD: .*{word}")

    def test_nobody_waits_for_who_has_left(self):
        done = python(2, 'if rank == 0: print(gather(b""))', "--timeout", "20")
        self.assertEqual((done.returncode, done.stdout), (0, "(1, b'rank 1 has left the job')\n"))

    def test_large_values(self):
        done = python(4, 'kind, value = gather(bytes([rank]) * 65536)\nprint(kind, len(value), value[-1])', "--label")
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] 0 {4 * (65536 + 4)} 3" for rank in range(4)])


class Environment(unittest.TestCase):
    def test_variables(self):
        done = shell(1, 'echo "$A,$B,$C"', "-x", "A=1 2", "-x", "B=x=y", "-x", "C", environment={"C": "kept"})
        self.assertEqual(done.stdout, "1 2,x=y,kept\n")

    def affinities(self, ranks, *options):
        done = run("-n", str(ranks), *options, sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))")
        return [line.rpartition("] [")[2].strip("[]") for line in sorted(done.stdout.splitlines())]

    def test_bind(self):
        everything = str(sorted(os.sched_getaffinity(0))).strip("[]")
        self.assertEqual(set(self.affinities(2, "--bind", "none")), {everything})
        self.assertEqual(set(self.affinities(1)), {everything})
        bound = self.affinities(2, "--bind", "core")
        if len(os.sched_getaffinity(0)) > 1:
            self.assertNotIn(everything, bound)
        # More ranks than cores: left alone.
        self.assertEqual(set(self.affinities(len(os.sched_getaffinity(0)) + 1)), {everything})

    def test_descriptors_do_not_leak_between_ranks(self):
        done = run("-n", "3", sys.executable, "-c",
                   "import os; print(sum(os.path.realpath(f'/proc/self/fd/{fd}').startswith('/proc/self') or "
                   "'socket' in os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') "
                   "if os.path.lexists(f'/proc/self/fd/{fd}')))", "--label")
        self.assertEqual({line[-1] for line in done.stdout.splitlines()}, {"1"}, done.stdout)


class AsNccl(unittest.TestCase):
    def test_the_library_is_in_front(self):
        library = os.path.join(os.path.dirname(RUN), "..", "..", "lib", "libnccl.so.2")
        if not os.path.exists(library):
            self.skipTest("this build keeps its libnccl.so.2 elsewhere")
        if os.environ.get("HAWSER_TEST_SANITIZE"):
            self.skipTest("a sanitizer's run-time library must come before any preloaded one")
        done = shell(1, 'echo "$LD_PRELOAD $LD_LIBRARY_PATH"', "--as-nccl")
        self.assertEqual(done.returncode, 0, done.stderr)
        preload, path = done.stdout.split()
        self.assertTrue(os.path.samefile(preload.split(":")[0], library))
        self.assertTrue(os.path.samefile(path.split(":")[0], os.path.dirname(library)))

    def test_dt_rpath_is_warned_of(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "bin"))
            os.makedirs(os.path.join(folder, "lib"))
            launcher = os.path.join(folder, "bin", "hawser-run")
            with open(RUN, "rb") as source, open(launcher, "wb") as target:
                target.write(source.read())
            os.chmod(launcher, 0o755)
            os.symlink(os.environ["HAWSER_TEST_NCCL"], os.path.join(folder, "lib", "libnccl.so.2"))
            done = subprocess.run([launcher, "-n", "1", "--as-nccl", os.environ["HAWSER_TEST_RPATH_PROGRAM"]],
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertRegex(done.stderr, r"warning: .*rpath_program has DT_RPATH \(/nowhere/lib\)")
            os.remove(os.path.join(folder, "lib", "libnccl.so.2"))
            done = subprocess.run([launcher, "-n", "1", "--as-nccl", "true"], capture_output=True, text=True, timeout=LIMIT,
                                  check=False)
            self.assertEqual(done.returncode, 126)
            self.assertIn("libnccl.so.2", done.stderr)


if __name__ == "__main__":
    unittest.main()
