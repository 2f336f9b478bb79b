#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Installs Hawser and lets a small project of its own (consumer/) find, link and run it: by CMake and by pkg-config."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import abi

BUILD = abi.path("HAWSER_BUILD_DIRECTORY")
CMAKE = os.environ["HAWSER_CMAKE"]
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
LIBDIR = os.environ["HAWSER_INSTALL_LIBDIR"]
DOCDIR = os.environ["HAWSER_INSTALL_DOCDIR"]
VERSION = str(abi.version_code(abi.LATEST))


class Install(unittest.TestCase):

    def setUp(self):
        abi.skip_if_sanitized(self)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.prefix = self.folder / "first"
        for component in ("runtime", "development"):
            self.run_checked(CMAKE, "--install", BUILD, "--prefix", self.prefix, "--component", component)

    def run_checked(self, *command, **variables):
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, timeout=120)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout.strip()

    def build_with_cmake(self, prefix):
        build = self.folder / f"build-{prefix.name}"
        self.run_checked(CMAKE, "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        self.run_checked(CMAKE, "--build", build)
        for program in ("with_nccl", "with_hawser"):
            self.assertEqual(self.run_checked(build / program), f"3 ranks, version {VERSION}")

    def build_with_pkg_config(self, prefix):
        for package, define in (("nccl", []), ("hawser", ["-DUSE_HAWSER"])):
            search = {"PKG_CONFIG_PATH": prefix / LIBDIR / "pkgconfig"}
            flags = self.run_checked("pkg-config", "--cflags", "--libs", package, **search).split()
            program = self.folder / f"{prefix.name}-{package}"
            self.run_checked(os.environ["CC"], "-std=c99", *define, CONSUMER / "main.c", *flags, "-o", program)
            found = self.run_checked(program, LD_LIBRARY_PATH=prefix / LIBDIR)
            self.assertEqual(found, f"3 ranks, version {VERSION}")

    def test_consumers_build_and_run(self):
        self.build_with_cmake(self.prefix)
        self.build_with_pkg_config(self.prefix)
        with self.subTest("after the whole tree was moved"):
            moved = self.folder / "second"
            self.prefix.rename(moved)
            self.build_with_cmake(moved)
            self.build_with_pkg_config(moved)

    def test_pkg_config_tells_the_versions(self):
        search = {"PKG_CONFIG_PATH": self.prefix / LIBDIR / "pkgconfig"}
        self.assertEqual(self.run_checked("pkg-config", "--modversion", "nccl", **search), abi.LATEST)
        self.assertEqual(self.run_checked("pkg-config", "--modversion", "hawser", **search), os.environ["HAWSER_VERSION"])

    def test_what_is_installed(self):
        names = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}
        library_names = {path.removeprefix(f"{LIBDIR}/") for path in names if path.startswith(f"{LIBDIR}/")}
        self.assertLessEqual({"libhawser.so", "libhawser.so.0", "libnccl.so", "libnccl.so.2"}, library_names)
        self.assertLessEqual({"include/nccl.h", "include/hawser/hawser.h"}, names)

    def test_licences_are_installed(self):
        installed = self.prefix / DOCDIR
        self.assertTrue((installed / "LICENSE").exists())
        for source in sorted((abi.ROOT / "licenses").iterdir()):
            self.assertEqual((installed / "licenses" / source.name).read_bytes(), source.read_bytes())
        for part in ("fmt", "highway", "openssl", "gcc-runtime"):
            self.assertTrue((installed / "licenses" / f"{part}.txt").exists(), part)

    def test_a_face_alone_finds_the_installed_core(self):
        """A link to the face, from elsewhere: the search path names the folder where the core was installed."""
        readelf = shutil.which("readelf")
        text = self.run_checked(readelf, "-d", "-W", self.prefix / LIBDIR / "libnccl.so.2")
        self.assertIn(f"[$ORIGIN:{os.environ['HAWSER_LIBDIR']}]", text)


if __name__ == "__main__":
    abi.main()
