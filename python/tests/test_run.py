# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs from Python: the same numbers as the program's, whole or in steps, and arrays without copies."""

import csv
import gc
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

import thermix
from thermix import runs as module

SMALL = {"chip": "gtx280", "mix": "hot_cold", "policy": "MU", "seed": 3, "tick_s": 0.01, "warmup_s": 1.5,
         "rows": 8, "cols": 8, "package": {"r_convec": 0.35}, "dtm": {"policy": "dvfs"}}


class Slow(thermix.policy.Dtm):
    """One clock level down, always."""

    def decide(self, view, request):
        for ask in request.gpus:
            ask.level = 1


class Dies(Slow):
    def decide(self, view, request):
        os._exit(3)


class Raises(Slow):
    def decide(self, view, request):
        raise KeyError("mine")


class TestRun(unittest.TestCase):
    def test_a_run_writes_the_files_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "run.cfg").write_text(thermix.to_text(SMALL))
            subprocess.run([os.environ["THERMIX"], "run", folder / "run.cfg", "-q", "-o", folder / "program"],
                           check=True)
            r = thermix.Run(SMALL)
            metrics = r.finish()
            r.write(folder / "python")
            for name in ("resolved.cfg", "summary.csv", "kernels.csv"):
                self.assertEqual((folder / "program" / name).read_bytes(), (folder / "python" / name).read_bytes())
            with open(folder / "program" / "summary.csv", newline="") as f:
                row = next(csv.DictReader(f))
            self.assertEqual({k: float(row[k]) for k in metrics}, metrics)
            self.assertEqual(row["run"], r.id)
            again = thermix.Run(folder / "python" / "resolved.cfg")
            self.assertEqual(again.id, r.id)

    def test_steps_end_where_the_whole_run_does(self):
        whole, steps = thermix.run(SMALL), thermix.Run(SMALL)
        while not steps.step(777):
            pass
        self.assertEqual(steps.metrics(), whole)
        self.assertTrue(steps.step(5))

    def test_arrays_look_into_the_library_and_outlive_the_run_object(self):
        r = thermix.Run(SMALL)
        temp_k = r.unit_temp_k
        before = temp_k.copy()
        r.step(2000)
        self.assertGreater(temp_k.max(), before.max() + 5)
        self.assertEqual(temp_k.ctypes.data, r.unit_temp_k.ctypes.data)
        self.assertEqual(len(r.units), temp_k.size)
        with self.assertRaises(ValueError):
            temp_k[0] = 0
        now = temp_k.copy()
        r.close()
        self.assertRaisesRegex(ValueError, "the run is closed", r.step)
        del r
        gc.collect()
        self.assertTrue(np.array_equal(temp_k, now))

    def test_every_quantity_has_the_length_of_its_thing(self):
        r = thermix.Run({**{k: v for k, v in SMALL.items() if k != "chip"}, "topology": "gtx280x2"})
        r.step(10)
        counts = {"run": 1, "gpu": 2, "sm": 60, "unit": len(r.units), "fan": len(r.fans), "job": len(r.jobs),
                  "metric": len(r.metric_names)}
        for name, (_, thing) in module.QUANTITIES.items():
            self.assertEqual(r.read(name).size, counts[thing], name)
            self.assertTrue(np.isfinite(r.read(name)).all() or thing == "metric", name)
        self.assertEqual(r.gpu_n_unit.sum(), len(r.units))
        self.assertGreater(counts["fan"], 0)
        self.assertRaises(AttributeError, lambda: r.no_such_thing)

    def test_names_stand_in_the_order_of_the_header(self):
        header = pathlib.Path(__file__).parents[2] / "include/thermix/run.h"
        listed = re.findall(r"X\(TMX_READ_(\w+),\s*TMX_THING_(\w+),", header.read_text())
        self.assertEqual([(a.lower(), b.lower()) for a, b in listed],
                         [(name, thing) for name, (_, thing) in module.QUANTITIES.items()])
        things = re.findall(r"^    TMX_THING_(\w+),", header.read_text(), re.M)
        self.assertEqual([t.lower() for t in things], list(module.THINGS))

    def test_configurations_are_dicts_text_or_files(self):
        text = thermix.to_text(SMALL)
        self.assertEqual(thermix.Run(text).id, thermix.Run(SMALL).id)
        self.assertNotEqual(thermix.Run(text, {"seed": 4, "dtm.policy": "none"}).id, thermix.Run(SMALL).id)
        self.assertEqual(thermix.Run(text, ["seed=4"]).id, thermix.Run({**SMALL, "seed": 4}).id)
        self.assertEqual(thermix.to_text({"a": [1, 2.5], "b": np.float64(1e-6), "c": 'x"\\', "d": np.arange(2)}),
                         'a = (1L, 2.5);\nb = 1.0e-06;\nc = "x\\"\\\\";\nd = [0L, 1L];\n')
        for bad in ({"a b": 1}, {"a": float("nan")}):
            self.assertRaises(ValueError, thermix.to_text, bad)
        self.assertRaises(TypeError, thermix.to_text, {"a": None})
        self.assertRaisesRegex(TypeError, "5 is no configuration", thermix.run, 5)
        self.assertRaisesRegex(TypeError, "sets", thermix.Run, thermix.Config(SMALL), {"seed": 4})
        self.assertRaisesRegex(TypeError, "step: 'a'", thermix.Run(SMALL).step, "a")
        self.assertRaisesRegex(OverflowError, "run_step: 18446744073709551621", thermix.Run(SMALL).step, 2 ** 64 + 5)

    def test_bad_configurations_are_errors_with_their_line(self):
        with self.assertRaises(thermix.Error) as caught:
            thermix.Run({"chip": "gtx280", "polcy": "MU"})
        self.assertIn('dict:2: unknown key "polcy", did you mean "policy"?', str(caught.exception))
        self.assertEqual((caught.exception.line, caught.exception.status), (2, "ECONFIG"))
        self.assertRaisesRegex(thermix.Error, "nowhere.cfg", thermix.Run, "nowhere.cfg")
        self.assertRaisesRegex(thermix.Error, "seed", thermix.Run, {"chip": "gtx280", "mix": "WL1"})


class TestStudy(unittest.TestCase):
    AXES = {("policy", "dtm.policy"): [("MU", None), ("BL", Slow)], "mix": ["hot_cold", "hot_hot"]}
    BASE = {**{k: v for k, v in SMALL.items() if k not in ("mix", "policy", "dtm")}, "tick_s": 0.05}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_each_point_is_the_run_with_its_policy_in_any_number_of_processes(self):
        rows = thermix.study(self.BASE, self.AXES, self.folder / "one", processes=1)
        self.assertEqual([(r["policy"], r["dtm.policy"], r["mix"]) for r in rows],
                         [(p, d, m) for p, d in (("MU", None), ("BL", "slow")) for m in ("hot_cold", "hot_hot")])
        for row in rows:
            own = row["dtm.policy"] == "slow"
            run = thermix.Run({**self.BASE, "mix": row["mix"], "policy": row["policy"]},
                              {"dtm.policy": row["dtm.policy"]} if row["dtm.policy"] else (), [Slow()] if own else ())
            np.testing.assert_equal(row, {**{k: row[k] for k in ("policy", "dtm.policy", "mix")}, "run": run.id, **run.finish()})
        thermix.study(self.BASE, self.AXES, self.folder / "three", processes=3)
        self.assertEqual((self.folder / "one/runs.csv").read_bytes(), (self.folder / "three/runs.csv").read_bytes())

    def test_a_point_that_is_done_is_not_run_again(self):
        axes = {"dtm.policy": [None, Slow], "mix": ["hot_cold"]}
        first = thermix.study(self.BASE, axes, self.folder)
        table = self.folder / "runs.csv"
        energy = f"{first[0]['energy_j']!r}"
        table.write_text(table.read_text().replace(energy, "12.5"))
        table.rename(self.folder / "partial.csv")  # as Ctrl-C leaves it
        rows = thermix.study(self.BASE, {**axes, "dtm.policy": [None, Slow, "none"]}, self.folder)
        self.assertEqual([r["energy_j"] for r in rows], [12.5, first[1]["energy_j"], first[0]["energy_j"]])
        np.testing.assert_equal(rows[1], first[1])
        (self.folder / "partial.csv").unlink()
        table.write_text(table.read_text().replace("12.5", "x"))  # damaged
        np.testing.assert_equal(thermix.study(self.BASE, axes, self.folder), first)
        other = thermix.study({**self.BASE, "package": {"r_convec": 0.3}}, axes, self.folder)  # another run of these labels
        self.assertNotEqual(other[0]["energy_j"], first[0]["energy_j"])

    def test_its_table_is_that_of_the_program(self):
        thermix.study(self.BASE, {"policy": ["BL", "MU"], "package.r_convec": [0.25, 0.35], "mix": ["hot_cold"]}, self.folder)
        (self.folder / "run.cfg").write_text(thermix.to_text(self.BASE))
        (self.folder / "study.cfg").write_text(
            'name = "s"; base = "./run.cfg"; seed = 1; axes = ( { key = "policy"; values = ["BL", "MU"]; },\n'
            '{ key = "package.r_convec"; values = [0.25, 0.35]; }, { key = "mix"; values = ["hot_cold"]; } );\n')
        subprocess.run([os.environ["THERMIX"], "sweep", self.folder / "study.cfg", "-q", "-o", self.folder / "db"], check=True,
                       stdout=subprocess.DEVNULL)

        def query(name, *options):
            return subprocess.run([os.environ["THERMIX"], "query", self.folder / name, "--format", "csv", *options],
                                  capture_output=True, text=True)

        said = query("db").stdout
        ours, theirs = (list(csv.DictReader(t.splitlines())) for t in ((self.folder / "runs.csv").read_text(), said))
        names = [n for n in ours[0] if any(r[n] for r in ours) and n != "run"]
        self.assertEqual(names, [n for n in theirs[0] if n in names])
        self.assertEqual([[r[n] for n in names] for r in ours], [[r[n] for n in names] for r in theirs])
        means = "--rows", "policy", "--value", "energy_j,slowdown_pct", "--aggregate", "mean,sd,n"
        self.assertIn("energy_j_sd", query("db", *means).stdout)
        self.assertEqual(query("db", *means).stdout, query("runs.csv", *means).stdout)
        self.assertIn("several values of package.r_convec", query("runs.csv", *means[:-1], "ci95").stderr)
        text = (self.folder / "runs.csv").read_text()
        for bad, why in ((text.replace(",run,", ",id,"), ":1: expected the columns"),
                         (text.replace(ours[1]["energy_j"], "x"), ":3: energy_j = x: expected a number")):
            (self.folder / "bad.csv").write_text(bad)
            self.assertIn(why, query("bad.csv").stderr)

    def test_a_point_that_fails_is_named_and_costs_itself(self):
        axes = {"dtm.policy": ["none", Slow], "mix": ["hot_cold"]}
        thermix.study(self.BASE, axes, self.folder)
        before = (self.folder / "runs.csv").read_bytes()
        with self.assertRaises(RuntimeError) as caught:
            thermix.study(self.BASE, {**axes, "dtm.policy": ["none", Dies, Raises, Slow, "nope"]}, self.folder)
        self.assertRegex(str(caught.exception), "(?s)^3 of 5 points failed:\ndtm.policy=dies, mix=hot_cold: its process ended with 3\n"
                         "dtm.policy=raises, mix=hot_cold: KeyError: 'mine'\ndtm.policy=nope, .*unknown dtm policy \"nope\"")
        self.assertEqual([r["dtm.policy"] for r in caught.exception.rows], ["none", "slow"])
        self.assertEqual((self.folder / "partial.csv").read_bytes(), before)
        self.assertEqual((self.folder / "runs.csv").read_bytes(), before)
        self.assertRaisesRegex(RuntimeError, 'sed=1: .*unknown key "sed"', thermix.study, SMALL, {"sed": [1]})
        self.assertRaisesRegex(RuntimeError, 'unknown fan policy "slow"', thermix.study, SMALL, {"fan.policy": [Slow]})
        for axes in ({}, {"seed": []}, {"seed": [1, 1]}, {"mix": "WL1"}, {("seed", "mix"): [1]}, {"dtm.policy": [Slow()]},
                     {"seed": [1], ("mix", "seed"): [("WL1", 2)]}, {"dtm.policy": [Slow, "slow"]}):
            self.assertRaises((ValueError, TypeError), thermix.study, SMALL, axes)
        self.assertRaises(ValueError, thermix.study, SMALL, {"seed": [1]}, processes=0)


if __name__ == "__main__":
    unittest.main()
