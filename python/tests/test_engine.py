# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine from Python: shapes, blocks, no copies, errors."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import thermix


SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def engine(**more):
    return thermix.Engine(chip="gtx280", grid_rows=8, grid_cols=8, **more)


class TestEngine(unittest.TestCase):
    def setUp(self):
        self.power_w = np.random.default_rng(1).uniform(0, 5, (40, 33))

    def test_units_have_the_names_of_the_floorplan(self):
        with engine() as e:
            self.assertEqual(len(e.units), 33)
            self.assertEqual(e.units.count("SM00"), 1)

    def test_a_block_of_steps_equals_steps_one_by_one(self):
        with engine() as a, engine() as b:
            rows = a.step(0.01, self.power_w)
            for i, w in enumerate(self.power_w):
                self.assertTrue(np.array_equal(rows[i], b.step(0.01, w)))
            self.assertTrue(np.array_equal(rows[-1], a.temperatures()))

    def test_contiguous_arrays_are_used_in_place(self):
        out = np.zeros_like(self.power_w)
        with engine() as e:
            self.assertIs(e.step(0.01, self.power_w, out), out)
            self.assertTrue((out > 300).all())
            self.assertTrue(np.array_equal(engine().step(0.01, np.asfortranarray(self.power_w)), out))

    def test_a_steady_state_stays_and_moves_only_when_settled(self):
        w = self.power_w[0]
        with engine() as e:
            start = e.temperatures()
            steady = e.steady(w)
            self.assertTrue(np.array_equal(e.temperatures(), start))
            e.steady(w, settle=True)
            self.assertLess(np.abs(e.step(1.0, w) - steady).max(), 1e-6)

    def test_bad_arrays_are_refused(self):
        with engine() as e:
            for bad in (np.zeros(32), np.zeros((2, 2, 33)), 1.0):
                self.assertRaisesRegex(ValueError, "expected", e.step, 0.01, bad)
            for out in (np.zeros(33, np.float32), np.zeros((33, 2))[:, 0], np.zeros(32), [0] * 33):
                self.assertRaisesRegex(ValueError, "out:", e.step, 0.01, self.power_w[0], out)
            with self.assertRaisesRegex(thermix.Error, "not finite") as caught:
                e.step(0.01, np.full(33, np.nan))
            self.assertEqual(caught.exception.status, "ERANGE")
            self.assertRaises(thermix.Error, e.step, 0.0, self.power_w)
            room = np.zeros(41 * 33)
            self.assertRaisesRegex(ValueError, "shares a part", e.step, 0.01, room[:40 * 33].reshape(40, 33), room[33:].reshape(40, 33))
            self.assertRaisesRegex(TypeError, "engine_step_many: 'a': expected a number", e.step, "a", self.power_w)
            self.assertRaisesRegex(TypeError, "complex", e.step, 1e-3, np.asarray(self.power_w) + 1j)
            for names in ("columns", "index"):  # as a frame of pandas and one of its rows have them
                named = type("Named", (np.ndarray,), {names: [*reversed(e.units)]})
                self.assertRaisesRegex(ValueError, "in their order", e.step, 1e-3, np.asarray(self.power_w).view(named))
                setattr(named, names, e.units)
                e.step(1e-3, np.asarray(self.power_w).view(named))
            for hot in (lambda: e.step(1.0, np.asarray(self.power_w) * 1e6), lambda: e.steady(np.full(len(e.units), 1e6))):
                self.assertWarnsRegex(UserWarning, "no chip lives there", hot)
        self.assertRaisesRegex(ValueError, "closed", e.step, 0.01, self.power_w)
        self.assertRaisesRegex(ValueError, "closed", e.temperatures)
        e.close()

    def test_bad_options_are_told_as_the_program_tells_them(self):
        with self.assertRaises(thermix.Error) as caught:
            thermix.Engine(chip="gtx281")
        self.assertIn('did you mean "gtx280"', str(caught.exception))
        self.assertRaisesRegex(thermix.Error, "grid_rows", thermix.Engine, chip="gtx280", grid_row=8)
        self.assertRaisesRegex(thermix.Error, "Grid_rows is given twice", engine, Grid_rows=16)

    def test_it_starts_where_the_init_file_says(self):
        with tempfile.TemporaryDirectory() as d:
            power, init = os.path.join(d, "p.ptrace"), os.path.join(d, "s.init")
            chip = os.path.join(SOURCE, "floorplans", "gtx280")
            trace = os.path.join(d, "t.ttrace")
            files = ["-f", os.path.join(chip, "gtx280.flp"), "-c", os.path.join(chip, "package.config")]
            with engine() as e:
                np.savetxt(power, self.power_w[:1], header="\t".join(e.units), comments="", delimiter="\t")
            program = [os.environ["THERMIX"], "thermal", *files, "-p", power, "-grid_rows", "8", "-grid_cols", "8"]
            subprocess.run([*program, "-steady_file", init], check=True, capture_output=True)
            for more in {"init_file": init}, {"init_file": init, "dtm_used": 1, "thermal_threshold": 330}:
                words = [w for name, value in more.items() for w in ("-" + name, str(value))]
                subprocess.run([*program, *words, "-sampling_intvl", "0.01", "--method", "grid", "--precision", "9", "-o", trace],
                               check=True, capture_output=True)
                want = np.loadtxt(trace, skiprows=1)
                with engine(method="grid", **more) as e:
                    self.assertLess(np.abs(e.step(0.01, self.power_w[0]) - want).max(), 1e-6)
                with engine(**more) as e:
                    self.assertLess(np.abs(e.step(0.01, self.power_w[0]) - want).max(), 1e-2)
            self.assertRaisesRegex(thermix.Error, "absent.init: cannot open", engine, init_file="absent.init")
            self.assertRaisesRegex(thermix.Error, "without a grid_layer_file", engine, use_microchannels=1)

    def test_a_named_library_that_is_none_is_an_error(self):
        code = "import thermix; thermix.version()"
        done = subprocess.run([sys.executable, "-B", "-c", code], env={**os.environ,
                              "THERMIX_LIBRARY": "/nowhere/libthermix.so"}, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("THERMIX_LIBRARY", done.stderr)


if __name__ == "__main__":
    unittest.main()
