#!/usr/bin/python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Compares all_reduce_perf with the MPI libraries of this host, and with what its memory allows.

Every contender is launched several times, in alternation, because a virtual machine's cores move between cache domains
and all figures with them. A cell is (ranks, bytes, memory kind, variant); its value is the median over the launches.
docs/performance.md says how to read the table.
"""

import argparse
import dataclasses
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = ["8", "16", "64", "256", "1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M", "64M"]
QUICK_SIZES = ["8", "64K", "1M"]
GOOD_CROSS_LINE = 8.0  # GB/s at 4 MiB; below it the two cores share no cache
CROSS_LINE_BYTES = 4 << 20
PAGE = 4096
RATIO_CLIP = 3.0
FAILING_RATIO = 0.9


class Failure(Exception):
    """Something that ends the bench, in a sentence."""


def parse_size(text):
    units = {"K": 10, "M": 20, "G": 30}
    text = text.strip().upper()
    return int(text[:-1]) << units[text[-1]] if text and text[-1] in units else int(text)


def show_size(size):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def core_count():
    return len(os.sched_getaffinity(0))


def run_command(command, timeout, environment=None):
    """Returns (exit code, output); exit code None: it took longer than `timeout` seconds and was ended."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **(environment or {})}, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        process.terminate()  # launchers end their ranks then
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        return None, output


@dataclasses.dataclass
class Contender:
    """Something that is launched and gives a time per size. `values` collects microseconds by size."""
    name: str
    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    is_ours: bool = False
    values: dict = dataclasses.field(default_factory=dict)
    dropped: str = ""

    def launch(self, sizes, timeout):
        with tempfile.TemporaryDirectory(prefix="hawser-bench-") as folder:
            path = os.path.join(folder, "report.json")
            command = self.command + ["--sizes", ",".join(map(str, sizes)), "-J", path]
            code, output = run_command(command, timeout, self.environment)
            if code is None:
                self.dropped = f"took longer than {timeout} s"
                return
            if code != 0:
                self.dropped = f"exit code {code}: {last_line(output)}"
                return
            with open(path, encoding="utf-8", errors="replace") as file:
                report = json.load(file)
        for row in report["results"]:
            self.values.setdefault(row["size"], []).append(row["out_of_place"]["time"])


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


class Probe:
    """limit_probe: figures by (kind, bytes), one per launch."""

    def __init__(self, program):
        self.program = program
        self.times = {}
        self.rates = {}

    def launch(self, sizes, timeout):
        wanted = sorted({size for size in sizes if size >= PAGE} | {CROSS_LINE_BYTES})
        code, output = run_command([str(self.program)] + [str(size) for size in wanted], timeout)
        if code != 0:
            print(f"# limit_probe: {'took too long' if code is None else last_line(output)}", flush=True)
            return
        for line in output.splitlines():
            kind, size, time, _, rate, _ = line.split()
            self.times.setdefault((kind, int(size)), []).append(float(time))
            self.rates.setdefault((kind, int(size)), []).append(float(rate))

    def limit(self, size):
        """Microseconds that an all-reduce of this size takes at best; None where nothing is known."""
        if size < PAGE:
            times = self.times.get(("flag_barrier", 0))
            return statistics.median(times) if times else None
        medians = [statistics.median(self.times[kind, size]) for kind in ("push", "push_nt") if (kind, size) in self.times]
        return min(medians) if medians else None

    def cross_line(self):
        return self.rates.get(("cross_line", CROSS_LINE_BYTES), [])


def find_build(wanted):
    places = [pathlib.Path(wanted)] if wanted else [ROOT / "build" / "release", ROOT / "build"]
    for place in places:
        if (place / "perf" / "all_reduce_perf").exists():
            return place.resolve()
    raise Failure(f"no perf/all_reduce_perf in {', '.join(map(str, places))}; build it, or name the build tree by --build")


def build_peer(build, mpi):
    """Compiles the peer with mpicc.<mpi>; returns its path, or None with a line if this host does not have the MPI."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None or shutil.which(f"mpirun.{mpi}") is None:
        print(f"# {mpi}: not compared, mpicc.{mpi} or mpirun.{mpi} is not installed")
        return None
    source = ROOT / "perf" / "peers" / "mpi_all_reduce.c"
    target = build / "perf" / f"mpi_all_reduce.{mpi}"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        code, output = run_command([compiler, "-std=c11", "-O3", "-march=native", "-o", str(target), str(source)], 120)
        if code != 0:
            raise Failure(f"mpicc.{mpi} failed:\n{output}")
    return target


def build_probe(build):
    source = ROOT / "perf" / "limits" / "limit_probe.cpp"
    target = build / "perf" / "limit_probe"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        compiler = shutil.which("g++") or "c++"
        code, output = run_command([compiler, "-std=c++20", "-O3", "-march=native", "-o", str(target), str(source)], 300)
        if code != 0:
            raise Failure(f"limit_probe does not compile:\n{output}")
    return target


def openmpi_command(ranks):
    command = [shutil.which("mpirun.openmpi"), "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
    if ranks <= core_count():
        return command + ["--bind-to", "core"]
    return command + ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


def mpich_command(ranks):
    binding = "core" if ranks <= core_count() else "none"
    return [shutil.which("mpirun.mpich"), "-bind-to", binding, "-n", str(ranks)]


def contenders(options, build, peers, ranks, touch):
    measure = ["-n", str(options.iterations), "-w", "5", "--stat", options.stat] + (["--touch"] if touch else [])
    ours = [str(find_tool(build)), "-n", str(ranks), str(build / "perf" / "all_reduce_perf")] + measure
    found = [Contender(f"hawser {kind}", ours + ["--alloc", kind], is_ours=True) for kind in options.alloc]
    starts = {"openmpi": openmpi_command, "mpich": mpich_command}
    for mpi, program in peers.items():
        found.append(Contender(mpi, starts[mpi](ranks) + [str(program)] + measure))
    return found


def find_tool(build):
    path = build / "tools" / "hawser_run" / "hawser-run"
    if not path.exists():
        raise Failure(f"{path} is not built")
    return path


def first_match(command, word):
    code, output = run_command(command, 30) if shutil.which(command[0]) else (1, "")
    lines = [line.strip() for line in output.splitlines() if word in line] if code == 0 else []
    return lines[0] if lines else "unknown"


def describe_host(peers):
    """What the figures depend on, in lines."""
    model = first_match(["cat", "/proc/cpuinfo"], "model name").partition(":")[2].strip()
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    lines = [f"host: {model}, {core_count()} cores, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}"]
    if os.getloadavg()[0] > 0.5:
        lines.append("warning: the host is not idle; figures are of little worth")
    if "openmpi" in peers:
        copy = first_match(["ompi_info", "--parsable", "--param", "btl", "vader", "--level", "9"],
                           "btl_vader_single_copy_mechanism:value")
        lines.append(f"openmpi: single copy by {copy.rpartition(':')[2]}, "
                     f"ptrace_scope {scope.read_text().strip() if scope.exists() else 'none'}")
    if "mpich" in peers:
        device = first_match(["mpichversion"], "Device").rpartition("\t")[2]
        lines.append(f"mpich: device {device}, UCX_TLS {os.environ.get('UCX_TLS', 'unset')}")
    return lines


def run_group(options, build, peers, probe, ranks, touch, sizes):
    """All launches of one (ranks, variant); returns its contenders."""
    group = contenders(options, build, peers, ranks, touch)
    for launch in range(options.launches):
        order = group[launch % len(group):] + group[:launch % len(group)]
        for contender in order:
            if contender.dropped:
                continue
            contender.launch(sizes, options.timeout)
            if contender.dropped:
                print(f"# {ranks} ranks{', touch' if touch else ''}: {contender.name} is left out: {contender.dropped}",
                      flush=True)
        if ranks == 2 and not touch and core_count() >= 2:
            probe.launch(sizes, options.timeout)
    return group


def make_cells(group, probe, ranks, touch, sizes):
    cells = []
    for size in sizes:
        medians = {each.name: statistics.median(each.values[size]) for each in group if each.values.get(size)}
        theirs = {each.name: medians[each.name] for each in group if not each.is_ours and each.name in medians}
        limit = probe.limit(size) if ranks == 2 and not touch else None
        for ours in (each for each in group if each.is_ours and each.name in medians):
            times = ours.values[size]
            best = min(theirs, key=theirs.get) if theirs else None
            median = medians[ours.name]
            cells.append({
                "collective": "all_reduce", "ranks": ranks, "bytes": size, "variant": "touch" if touch else "plain",
                "memory": ours.name.partition(" ")[2], "time_us": median, "times_us": times,
                "spread": (max(times) - min(times)) / median,
                "peers_us": theirs, "peer_times_us": {each.name: each.values[size] for each in group
                                                      if not each.is_ours and each.name in medians},
                "best_peer": best, "ratio": theirs[best] / median if best else None,
                "limit_us": limit, "of_limit": limit / median if limit else None})
    return cells


def show_number(value, width, digits=2):
    return f"{value:{width}.{digits}f}" if value is not None else " " * (width - 1) + "-"


def show_cells(cells, peer_names):
    heads = "".join(f"{name + ' us':>14}" for name in peer_names)
    print(f"\n{'ranks':>5} {'bytes':>8} {'variant':>7} {'memory':>6} {'ours us':>10} {'spread':>7}{heads} "
          f"{'ratio':>6} {'limit us':>10} {'of limit':>8}")
    for cell in cells:
        theirs = "".join(show_number(cell["peers_us"].get(name), 14) for name in peer_names)
        mark = " <" if cell["ratio"] is not None and cell["ratio"] < FAILING_RATIO else ""
        print(f"{cell['ranks']:>5} {show_size(cell['bytes']):>8} {cell['variant']:>7} {cell['memory']:>6} "
              f"{cell['time_us']:10.2f} {100 * cell['spread']:6.0f}%{theirs} {show_number(cell['ratio'], 6)} "
              f"{show_number(cell['limit_us'], 10)} {show_number(cell['of_limit'], 8)}{mark}", flush=True)


def show_summary(cells, probe):
    ratios = [min(cell["ratio"], RATIO_CLIP) for cell in cells if cell["ratio"] is not None]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        below = sum(ratio < FAILING_RATIO for ratio in ratios)
        print(f"\nratio to the best peer, clipped to {RATIO_CLIP:g}: geometric mean {mean:.2f} over {len(ratios)} cells; "
              f"{below} below {FAILING_RATIO} (marked <)")
    rates = probe.cross_line()
    if rates:
        good = sum(rate >= GOOD_CROSS_LINE for rate in rates)
        state = "good" if 2 * good > len(rates) else "bad"
        print(f"cross_line at 4 MiB: median {statistics.median(rates):.1f} GB/s, {min(rates):.1f} to {max(rates):.1f}; "
              f"{good} of {len(rates)} launches at {GOOD_CROSS_LINE:g} or more: the state is {state}")


def comma_list(text):
    return [each for each in text.split(",") if each]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", help="build tree with perf/all_reduce_perf (default: build/release, then build)")
    parser.add_argument("--sizes", type=comma_list, default=None, help="bytes, with K, M, G; comma separated")
    parser.add_argument("--ranks", type=comma_list, default=["2", "4", "8"], help="numbers of ranks (2,4,8)")
    parser.add_argument("--launches", type=int, default=5, help="launches of every contender (5)")
    parser.add_argument("--alloc", type=comma_list, default=["malloc", "mem"], help="our memory kinds (malloc,mem)")
    parser.add_argument("--variants", type=comma_list, default=["plain", "touch"], help="plain, touch or both (both)")
    parser.add_argument("--peers", type=comma_list, default=["openmpi", "mpich"], help="openmpi, mpich or both (both)")
    parser.add_argument("--stat", choices=["mean", "median", "min"], default="mean", help="figure of a launch (mean)")
    parser.add_argument("--iterations", type=int, default=0, help="per size and launch; 0: as many as fill about 20 ms")
    parser.add_argument("--timeout", type=float, default=120, help="seconds that one launch may take (120)")
    parser.add_argument("--quick", action="store_true", help="2 ranks, 3 sizes, 2 launches, without touch")
    parser.add_argument("--json", help="write everything to this file")
    options = parser.parse_args(arguments)
    if options.quick:
        options.ranks, options.launches, options.variants = ["2"], 2, ["plain"]
    texts = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    try:
        options.sizes = sorted({parse_size(each) for each in texts})
        options.ranks = [int(each) for each in options.ranks]
    except ValueError as error:
        parser.error(str(error))
    return options


def main(arguments):
    options = parse_arguments(arguments)
    build = find_build(options.build)
    peers = {mpi: program for mpi in options.peers if (program := build_peer(build, mpi)) is not None}
    probe = Probe(build_probe(build))
    started = datetime.datetime.now().isoformat(timespec="seconds")
    host = describe_host(peers)
    for line in host:
        print(f"# {line}", flush=True)
    cells = []
    is_broken = False
    for ranks in options.ranks:
        for variant in options.variants:
            group = run_group(options, build, peers, probe, ranks, variant == "touch", options.sizes)
            is_broken = is_broken or any(each.is_ours and each.dropped for each in group)
            new = make_cells(group, probe, ranks, variant == "touch", options.sizes)
            show_cells(new, list(peers))
            cells += new
    show_summary(cells, probe)
    if options.json:
        limits = [{"kind": kind, "bytes": size, "times_us": times, "gbps": probe.rates[kind, size]}
                  for (kind, size), times in probe.times.items()]
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"started": started, "host": host, "launches": options.launches, "stat": options.stat,
                       "cells": cells, "limits": limits}, file, indent=1)
    return 1 if is_broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        sys.exit(2)
