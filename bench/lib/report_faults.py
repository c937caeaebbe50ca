# SPDX-License-Identifier: MIT
"""For tests of the reports' --check, which must refuse edited results of a run.

The results are those of the last short run (lab/check leaves them in build/check;
NOMAP_RESULTS names another directory). Without them a test is skipped and says so.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
RESULTS = pathlib.Path(os.environ.get("NOMAP_RESULTS", TOP / "build" / "check"))


class Report:
    """A report.py beside the test, and the files of results that it is given."""

    def __init__(self, test_file, **files):
        self.program = pathlib.Path(test_file).with_name("report.py")
        self.files = files

    def load(self):
        """The parsed files, by their key; a copy that can be edited."""
        loaded = {}
        for key, name in self.files.items():
            path = RESULTS / name
            if not path.exists():
                pytest.skip(f"no results of a run: {path} is missing")
            loaded[key] = json.loads(path.read_text(encoding="utf-8"))
        return copy.deepcopy(loaded)

    def check(self, results, directory):
        """Exit status of --check for results, written to files in directory."""
        paths = []
        for key, value in results.items():
            path = directory / f"{key}.json"
            path.write_text(json.dumps(value), encoding="utf-8")
            paths.append(path)
        run = subprocess.run([sys.executable, "-B", self.program, "--check", *paths],
                             capture_output=True, text=True, check=False)
        # The report must name the fault, not die of it.
        assert "Traceback" not in run.stderr, run.stderr
        return run.returncode
