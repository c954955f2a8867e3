# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of examples/python, as a user types them."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name, *arguments):
    done = subprocess.run([sys.executable, "-B", ROOT / "examples/python" / name, *arguments],
                          capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class TestExamples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def test_the_baselines_are_those_of_the_readme(self):
        printed = {row[0]: row[1:5] for row in csv.reader(script("baselines.py").splitlines())}
        for line in (ROOT / "python/README.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 5 and cells[0].startswith("`"):
                for ours, theirs in zip(printed.pop(cells[0].split("`")[1]), cells[1:]):
                    self.assertAlmostEqual(float(ours), float(theirs), delta=0.02)
        self.assertEqual(list(printed), ["agent"])

    def test_the_table_of_the_script_is_that_of_the_program(self):
        sets = ["tick_s=0.05", "rows=16", "cols=16", "warmup_s=50"]
        script("tabs_table.py", "--mixes", "WL7,WL10", "--policies", "BL,A", "-o", self.out / "script",
               *(w for s in sets for w in ("--set", s)))
        (self.out / "suite.cfg").write_text(
            'name = "suite"; kind = "tabs"; mixes = ["WL7", "WL10"]; policies = ("BL", "A"); compare = "A";\n'
            'base = { chip = "gtx280"; seed = 1; tick_s = 0.001; quantum_s = 0.05; warmup_s = 200.0; };\n')
        subprocess.run([os.environ["THERMIX"], "table", self.out / "suite.cfg", "-q", "-o", self.out / "program",
                        *(w for s in sets for w in ("--set", s))], check=True, stdout=subprocess.DEVNULL)
        with open(self.out / "script/table.csv") as ours, open(self.out / "program/table.csv") as theirs:
            program = {(r["mix"], r["policy"]): r for r in csv.DictReader(theirs)}
            rows = list(csv.DictReader(ours))
        self.assertEqual(len(rows), 4)
        for row in rows:
            other = program[row["mix"], row["policy"]]
            for column, value in row.items():
                if column not in ("mix", "policy"):
                    self.assertEqual(value and float(value), other[column] and float(other[column]), column)
        self.assertIn("<svg", (self.out / "script/improvement.svg").read_text())

    def test_steps_are_drawn(self):
        said = script("step_by_step.py", "--set", "rows=8", "--set", "cols=8", "-o", self.out)
        with open(self.out / "steps.csv") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), int(said.split()[0]))
        self.assertGreater(float(rows[-1]["hottest_c"]), float(rows[0]["hottest_c"]))
        self.assertIn("<svg", (self.out / "steps.svg").read_text())

    def test_a_policy_of_ones_own_is_cooler_and_slower(self):
        said = script("own_policy.py", "--limit", "80", "--set", "rows=8", "--set", "cols=8", "--set",
                      "package.r_convec=0.235", "-o", self.out)
        value = {line.split()[0]: (float(line.split()[2]), float(line.split()[5])) for line in said.splitlines()}
        self.assertLess(value["approach"][1], value["dvfs"][1] - 2)
        self.assertGreater(value["approach"][0], value["dvfs"][0])
        self.assertIn("<svg", (self.out / "policies.svg").read_text())


if __name__ == "__main__":
    unittest.main()
