# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies written in Python: the layout of C's structs, every level, errors, and the built-in rule again."""

import collections
import copy
import ctypes
import dataclasses
import enum
import functools
import gc
import itertools
import math
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import thermix
from thermix import _identity, _layout, policy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = {"chip": "gtx280", "mix": "hot_cold", "policy": "MU", "seed": 1, "tick_s": 0.01, "rows": 8, "cols": 8,
        "warmup_s": 5.0}
# Two GPUs on one card, five kernels at once.
CARD = {**{k: v for k, v in BASE.items() if k != "chip"}, "topology": "gtx280x2", "policy": "MG-BL"}

FIVE = 'name = "five"; kernels = ( ' + ", ".join(f'{{ kernel = "{k}"; work_s = {w}; }}' for k, w in (
    ("SVM", 3.0), ("Cmem", 5.0), ("Conv", 2.0), ("SVM", 2.0), ("Bino", 4.0))) + " );"

# Emergencies within a minute, and a hot kernel that came second, so that shares move.
HOT = {**BASE, "package": {"r_convec": 0.4, "init_temp": 358.15}}
MIX = 'name = "turned"; kernels = ( { kernel = "Cmem"; work_s = 20.0; }, { kernel = "SVM"; work_s = 20.0; } );'


class Alternate(policy.Mix):
    """T^ABS, temporal, as sched/mix/alternate.c has it."""

    name = "alternate_in_python"
    options = {"emergency_c": 88.5, "release_c": 87.1, "initial_share": 0.05, "change": 0.05, "first_floor": 0.5,
               "most": 0.95, "slice": 0.01}
    turns = True
    measured_gain_pct = 1.26
    WINDOW = 32

    def decide(self, view, request):
        for gpu, ask, hottest_k in zip(view.gpus, request.gpus, view.hottest_k):
            if gpu.n_run == 1:
                self.one(view, gpu, ask, hottest_k)
            elif gpu.n_run == 2:
                self.two(view, gpu, ask, hottest_k)

    def level(self, gpu, hottest_k):
        if hottest_k >= self.emergency_c + 273.15:
            return min(gpu.level + 1, gpu.n_level - 1)
        return gpu.level - 1 if hottest_k < self.release_c + 273.15 and gpu.level > 0 else gpu.level

    def candidate(self, view, gpu, least):
        first, best = view.jobs[gpu.run[0]], None
        for j in (gpu.queue[i] for i in range(gpu.n_queue)):
            job = view.jobs[j]
            if job.queue_order - first.queue_order >= self.WINDOW or not job.pdi_valid or job.pdi_w == first.pdi_w:
                continue
            if best is None or (job.pdi_w < best[0] if least else job.pdi_w > best[0]):
                best = job.pdi_w, j
        return best

    def one(self, view, gpu, ask, hottest_k):
        hot = hottest_k >= self.emergency_c + 273.15
        found = self.candidate(view, gpu, hot)
        if found is None or (hot and not found[0] < view.jobs[gpu.run[0]].pdi_w):
            ask.level = self.level(gpu, hottest_k)
            return
        ask.admit, ask.share, ask.level = found[1], 1 - self.initial_share if hot else 0.5, gpu.level

    def two(self, view, gpu, ask, hottest_k):
        first_is_hot = view.jobs[gpu.run[0]].pdi_w >= view.jobs[gpu.run[1]].pdi_w
        floor = self.first_floor if first_is_hot else self.initial_share
        x = gpu.share if first_is_hot else 1 - gpu.share
        ask.level = gpu.level
        if hottest_k >= self.emergency_c + 273.15:
            if x > floor + 1e-9:
                x = max(floor, x - self.change)
            else:
                ask.level = self.level(gpu, hottest_k)
        elif hottest_k < self.release_c + 273.15:
            if gpu.level > 0:
                ask.level = gpu.level - 1
            elif x < self.most - 1e-9:
                x = min(self.most, x + self.change)
        ask.share = x if first_is_hot else 1 - x

    def slice_s(self):
        return self.slice

    def spread(self, s, share0):
        period = 2 * self.slice
        on = (s.share if s.first_is_hot else 1 - s.share) * period

        def time_on(t):
            n = math.floor(t / period + 1e-9)
            return n * on + min(max(t - n * period, 0), on)
        hot = min(1, max(0, (time_on(s.end_s) - time_on(s.begin_s)) / (s.end_s - s.begin_s)))
        share0[s.by_index[:s.n]] = hot if s.first_is_hot else 1 - hot


class Slow(policy.Dtm):
    """One clock level down, always."""

    options = {"slowest": 1.0}

    def decide(self, view, request):
        for ask in request.gpus:
            ask.level = int(self.slowest)


class Backwards(policy.Tb):
    def decide(self, view, gpu):
        return np.arange(view.gpus[gpu].n_sm)[::-1]


class Half(policy.Fan):
    def decide(self, fan):
        return 0.5


class Coldest(policy.Place):
    """The coldest of the GPUs with the fewest kernels, as sched/place/one_gpu.c has it."""

    name = "coldest_in_python"

    def decide(self, view, job):
        return min(range(view.n_gpu), key=lambda g: (view.gpus[g].n_run + view.gpus[g].n_queue, view.hottest_k[g]))


class WholeCard(policy.Place):
    """One GPU first, then the whole card; the first job waits a second."""

    def __init__(self):
        super().__init__()
        self.late = []

    def decide(self, view, job):
        if view.time_s < 1:
            return None
        self.late.append(view.time_s)
        return np.int64(0)

    def widen(self, view, job):
        return 0, view.gpus[0].n_card


class Beyond(policy.Place):
    def decide(self, view, job):
        return view.n_gpu, 1


class Raises(policy.Mix):
    def decide(self, view, request):
        raise KeyError("of the policy")


class Nonsense(policy.Mix):
    def decide(self, view, request):
        request.gpus[0].share = float("nan")


class TestPolicy(unittest.TestCase):
    def test_structs_are_laid_out_as_in_c(self):
        lines = ['#include <stdio.h>', '#include <thermix/policy.h>', 'int main(void) {']
        expected = []
        for s in _layout.STRUCTS:
            lines.append(f'printf("%zu\\n", sizeof(struct {s.c_name}));')
            expected.append((s.c_name, ctypes.sizeof(s)))
            for field in s._fields_:
                lines.append(f'printf("%zu\\n", offsetof(struct {s.c_name}, {field[0]}));')
                expected.append((f"{s.c_name}.{field[0]}", getattr(s, field[0]).offset))
        lines.append('printf("%d %d %d\\n", TMX_OPT_REAL, TMX_OPT_TEXT, TMX_N_LEVEL); return 0; }')
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "x.c").write_text("\n".join(lines))
            subprocess.run([os.environ.get("CC", "cc"), "-I", ROOT / "include", "x.c", "-o", "x"], cwd=folder, check=True)
            said = subprocess.run([f"{folder}/x"], capture_output=True, text=True, check=True).stdout.split("\n")
        self.assertEqual([(name, int(n)) for (name, _), n in zip(expected, said)], expected)
        self.assertEqual(said[len(expected)], f"{_layout.OPT_REAL} {_layout.OPT_TEXT} {len(_layout.LEVELS)}")

    def test_alternate_in_python_gives_the_bytes_of_the_one_built_in(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mix.cfg").write_text(MIX)
            given = {"emergency_c": 88.5, "release_c": 87.1, "dvfs_beside": True, "slice_s": 0.01}
            for name, group, policies in (("alternate", given, ()), ("alternate_in_python", {}, [Alternate()])):
                r = thermix.Run({**HOT, "mix": f"{folder}/mix.cfg", "mix_policy": {"policy": name, **group}}, policies=policies)
                shares = set()
                while not r.step(200):
                    shares.add(r.gpu_share[0])
                self.assertGreater(len(shares), 5)
                self.assertGreater(r.metrics()["peak_temp_c"], 88.5)
                self.assertGreater(r.metrics()["transition_j"], 0)
                r.write(f"{folder}/{name}")
            built_in, ours = pathlib.Path(folder) / "alternate", pathlib.Path(folder) / "alternate_in_python"
            self.assertEqual((built_in / "kernels.csv").read_bytes(), (ours / "kernels.csv").read_bytes())
            both = [(f / "summary.csv").read_text().split("\n")[1].split(",", 1) for f in (built_in, ours)]
            names = [numbers.rsplit(",", 1)[1] for _, numbers in both]
            self.assertEqual(names, ["MU with mix_policy alternate", "MU with mix_policy alternate_in_python"])
            self.assertEqual(both[0][1].rsplit(",", 1)[0], both[1][1].rsplit(",", 1)[0])  # all but the run's id
            self.assertNotEqual(both[0][0], both[1][0])

    def test_options_and_code_are_part_of_the_resolved_configuration(self):
        def run(p=None, **group):
            return thermix.Run({**BASE, "dtm": {"policy": "slow", **group}}, policies=[p or Slow()])
        self.assertIn("slowest = 2", run(slowest=2.0).resolved)
        self.assertNotEqual(run(slowest=2.0).id, run().id)
        self.assertEqual(thermix.Run(run().resolved, policies=[Slow()]).id, run().id)
        with self.assertRaisesRegex(ValueError, "other code"):
            run(code="0" * 32).finish()
        self.assertRaisesRegex(thermix.Error, "did you mean \"slowest\"", run, slwest=2.0)

    def test_policies_of_other_levels(self):
        fast, slow = thermix.run(BASE), thermix.run({**BASE, "dtm": {"policy": "slow"}}, policies=[Slow()])
        self.assertGreater(slow["makespan_s"], fast["makespan_s"])
        thermix.run({**BASE, "tb": {"policy": "backwards"}}, policies=[Backwards()])
        node = {k: v for k, v in BASE.items() if k != "chip"}
        quiet = thermix.run({**node, "topology": "gtx280x2", "fan": {"policy": "half"}}, policies=[Half()])
        loud = thermix.run({**node, "topology": "gtx280x2"})
        self.assertGreater(loud["mean_rpm"], quiet["mean_rpm"])

    def test_a_row_policy_holds_synchronous_jobs(self):
        class Late(policy.Row):
            asks = "holds"

            def decide(self, view, hold):
                self.periods = [job.period_s for job in view.instance]
                self.late_s = view.instance[1].begun_s - view.instance[0].begun_s
                hold[1] = 0.1 if self.late_s == 0 else 0

        base = {"topology": "hgx-b200-vf", "mix": "train8", "tick_s": 0.01, "warmup_s": 3.0, "rows": 8, "cols": 8,
                "seed": 1, "row": {"policy": "late"}, "sync_job": {"jobs": 2, "step_work_s": 0.5, "steps": 4}}
        late = Late()
        with thermix.Run(base, policies=[late]) as run:
            while not run.step(100):
                pass
            self.assertAlmostEqual(late.periods[1], 0.5, 2)
            self.assertAlmostEqual(late.late_s % 0.5, 0.1, 2)

    def test_coldest_in_python_gives_the_bytes_of_the_one_built_in(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mix.cfg").write_text(FIVE)
            for name, policies in (("coldest", ()), ("coldest_in_python", [Coldest()])):
                r = thermix.Run({**CARD, "mix": f"{folder}/mix.cfg", "place": {"policy": name}}, policies=policies)
                while not r.step(500):
                    pass
                r.write(f"{folder}/{name}")
            both = [pathlib.Path(folder, n, "kernels.csv").read_bytes() for n in ("coldest", "coldest_in_python")]
            self.assertEqual(*both)

    def test_a_place_may_wait_and_widen(self):
        p = WholeCard()
        thermix.run({**CARD, "place": {"policy": "wholecard"}}, policies=[p])
        self.assertGreaterEqual(min(p.late), 1)
        with self.assertRaisesRegex(thermix.Error, "place policy beyond: GPUs 2"):
            thermix.run({**CARD, "place": {"policy": "beyond"}}, policies=[Beyond()])

    def test_an_exception_ends_the_run_and_is_raised(self):
        r = thermix.Run({**BASE, "mix_policy": {"policy": "raises"}}, policies=[Raises()])
        with self.assertRaisesRegex(KeyError, "of the policy") as caught:
            r.finish()
        self.assertRegex(caught.exception.__notes__[0], f"in the run of .*, id {r.id}, at -")
        self.assertLess(r.time_s, 0)

    def test_nonsense_ends_the_run_with_the_policys_name(self):
        with self.assertRaisesRegex(thermix.Error, "nonsense.*run: mix hot_cold, policy MU with mix_policy nonsense, at -5 s") as caught:
            thermix.run({**BASE, "mix_policy": {"policy": "nonsense"}}, policies=[Nonsense()])
        self.assertEqual(caught.exception.status, "ESOLVE")

    def test_an_option_cannot_take_the_place_of_something_else(self):
        class Clash(policy.Dtm):
            options = {"code": 1.0}
        self.assertRaisesRegex(ValueError, "code", Clash)

    def test_an_object_that_no_key_names_is_said(self):
        with self.assertWarnsRegex(UserWarning, "policy slow: no key names it"):
            thermix.Run(BASE, policies=[Slow()])

    def test_an_object_is_for_one_run(self):
        p = Slow()
        config = {**BASE, "dtm": {"policy": "slow"}}
        thermix.Run(config, policies=[p])
        self.assertRaisesRegex(ValueError, "one run", thermix.Run, config, policies=[p])
        self.assertRaises(TypeError, thermix.Run, config, policies=["slow"])


def slowed_by(base=policy.Dtm, level=1, constant=None):
    """A policy whose own text is the same whatever it is made with."""
    class Made(base):
        name = "made"

        def decide(self, view, request):
            for ask in request.gpus:
                ask.level = self.wanted()

        def wanted(self):
            return level if constant is None else constant[0]
    return Made


class OneDown(policy.Dtm):
    step = 1

    def wanted(self):
        return self.step


class TwoDown(policy.Dtm):
    step = 2

    def wanted(self):
        return self.step


LEVEL = 1


def helper():
    return LEVEL


class ByHelper(policy.Dtm):
    name = "made"

    def decide(self, view, request):
        for ask in request.gpus:
            ask.level = helper()


class ByClock(policy.Dtm):
    name = "made"

    def decide(self, view, request):
        for ask in request.gpus:
            ask.level = int(time.time()) % 2


@dataclasses.dataclass
class Gains:
    up: int = 3
    down: list = dataclasses.field(default_factory=list)


class Turn(enum.Enum):
    LEFT, RIGHT = 1, 2


def made(decide, base=policy.Dtm, **more):
    return type("Made", (base,), {**{"name": "made", "decide": decide}, **more})()


class TestIdentity(unittest.TestCase):
    def run_of(self, p):
        return thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[p])

    def test_the_id_covers_what_the_code_sees(self):
        global LEVEL
        made_of = [slowed_by()(), slowed_by(level=2)(), slowed_by(constant=[1])(), slowed_by(constant=[2])(),
                   type("Made", (OneDown,), {"name": "made", "decide": Slow.decide})(),
                   type("Made", (TwoDown,), {"name": "made", "decide": Slow.decide})()]
        with_attribute = slowed_by()()
        with_attribute.gain = 3
        ids = [self.run_of(p).id for p in made_of + [with_attribute, ByHelper()]]
        LEVEL = 2
        try:
            ids.append(self.run_of(ByHelper()).id)
        finally:
            LEVEL = 1
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(self.run_of(ByHelper()).id, ids[-2])
        self.assertEqual(self.run_of(slowed_by()()).id, ids[0])
        self.assertFalse([i for i in ids if i.startswith("unrepro")])

    def test_the_id_covers_the_choices_of_a_gate_policy(self):
        def run_of(**choices):
            p = type("Made", (policy.Gate,), {"name": "made", **choices})()
            r = thermix.Run({**BASE, "chip": "gtx480", "gate": {"policy": "made", "instructions": 2000}}, policies=[p])
            return r.id, r.finish()["energy_j"]
        (never, energy), (any_time, other) = run_of(wake=0), run_of(wake=1)
        self.assertNotEqual(never, any_time)
        self.assertNotEqual(energy, other)  # and no profile of the other from the cache
        self.assertEqual(run_of(wake=0), (never, energy))

    def test_the_id_is_that_of_another_process(self):
        code = ("import sys; sys.path.insert(0, {!r}); import test_policy as t, thermix; "
                "print(thermix.Run({{**t.BASE, 'dtm': {{'policy': 'made'}}}}, policies=[t.ByHelper()]).id)")
        said = {subprocess.run([sys.executable, "-B", "-c", code.format(str(ROOT / "python/tests"))], check=True, text=True,
                               capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout.strip()
                for seed in ("1", "2")}
        self.assertEqual(said, {self.run_of(ByHelper()).id})

    def test_values_of_every_kind_have_a_hash_of_their_content(self):
        def one(value):
            seen = _identity.Identity()
            seen.add(value)
            self.assertEqual(seen.missing, [], value)
            return seen.hexdigest()
        loop = []
        loop.append(loop)
        pairs = ((np.random.default_rng(3), np.random.default_rng(4)), (random.Random(1), random.Random(2)), (Gains(4), Gains(5)),
                 (Turn.LEFT, Turn.RIGHT), (1, True), (1, 1.0), ([1, 2], [2, 1]), ([1, 2], (1, 2)), ({"a": 1}, {"a": 2}), (loop, [[]]),
                 (np.arange(3), np.arange(3.0)), (functools.partial(max, 1), functools.partial(max, 2)),
                 (functools.lru_cache(lambda x: x), functools.lru_cache(lambda x: -x)), (itertools.count(1), itertools.count(2)),
                 (Gains, Turn), (math.sin, math.cos), ([].append, [1].append), (collections.deque([1]), collections.deque([2])))
        for a, b in pairs:
            self.assertNotEqual(one(a), one(b), (a, b))
            self.assertEqual(one(a), one(copy.deepcopy(a)) if not callable(a) else one(a))
        self.assertEqual(one({1, 2, "x"}), one({"x", 2, 1}))

    def test_what_has_no_hash_marks_the_run(self):
        p = ByClock()
        r = self.run_of(p)
        self.assertRegex(r.id, "^unreproducible-[0-9a-f]{32}$")
        self.assertEqual(p.not_hashed, ["time"])
        with tempfile.TemporaryDirectory() as folder:
            r.finish()
            r.write(folder)
            self.assertIn(r.id, pathlib.Path(folder, "summary.csv").read_text())
        for seen in (open(os.devnull), np.random.default_rng, lambda: np.random.rand()):
            p = slowed_by(constant=[1, seen])()
            self.assertEqual(self.run_of(p).id.startswith("unrepro"), seen is not np.random.default_rng)
            getattr(seen, "close", int)()
        env = thermix.Environment(BASE)
        self.assertTrue(env.reset()[1]["id"].startswith("unreproducible-"))


class TestAnswers(unittest.TestCase):
    def refused(self, error, words, p, **more):
        with self.assertRaisesRegex(error, words):
            thermix.run({**BASE, "dtm": {"policy": "made"}, **more}, policies=[p])

    def test_an_answer_that_would_be_ignored_is_an_error(self):
        def misspelt(self, view, request):
            request.gpus[0].levels = 3

        def returned(self, view, request):
            return 3

        def generator(self, view, request):
            request.gpus[0].level = yield

        async def coroutine(self, view, request):
            request.gpus[0].level = 1

        def rebound(self, view, request):
            request.gate = [True]
        self.refused(AttributeError, "no 'levels'; there is admit", made(misspelt))
        self.refused(TypeError, "returned 3", made(returned))
        self.refused(TypeError, "yield or is async", made(generator))
        self.refused(TypeError, "yield or is async", made(coroutine))
        self.refused(AttributeError, "request.gate", made(rebound))
        self.refused(TypeError, "returned 3", made(Slow.decide, guard=returned, slowest=0))
        self.assertRaisesRegex(TypeError, "no functions", thermix.Run, {**BASE, "gate": {"policy": "made"}},
                               policies=[made(returned, policy.Gate)])

    def test_numbers_out_of_range_are_refused_as_those_of_built_in_policies(self):
        def ask(**fields):
            def decide(self, view, request):
                for name, value in fields.items():
                    setattr(request.gpus[0], name, value)
            return made(decide)
        for level in (-1, 2**64):
            self.refused(ValueError, f"level = {level}: expected 0 or more", ask(level=level))
        self.refused(TypeError, "", ask(level=1.0))
        for level in (2**40, 99):
            self.refused(thermix.Error, f"dtm policy made: clock level {level} on GPU 0, expected 0 to", ask(level=level))
        for n in (0, 10**9):
            self.refused(thermix.Error, f"dtm policy made: {n} active SMs on GPU 0, expected 1 to 30", ask(n_active=n))

    def test_other_levels_answers_are_numbers_in_their_range(self):
        fans = {k: v for k, v in BASE.items() if k != "chip"}
        for speed in (40.0, -0.1, math.nan, True):
            with self.assertRaisesRegex(ValueError, "expected 0 to 1"):
                thermix.run({**fans, "topology": "gtx280x2", "fan": {"policy": "made"}},
                            policies=[made(lambda self, fan: speed, policy.Fan)])
        for order in (np.arange(30) + 0.5, -np.arange(30), [True] * 30):
            with self.assertRaisesRegex(ValueError, "SM indices"):
                thermix.run({**BASE, "tb": {"policy": "made"}}, policies=[made(lambda self, view, gpu: order, policy.Tb)])
        for place in (-1, True):
            with self.assertRaisesRegex((ValueError, TypeError), "GPU = "):
                thermix.run({**CARD, "place": {"policy": "made"}}, policies=[made(lambda self, view, job: place, policy.Place)])

    def test_a_place_policy_that_waits_for_ever_is_named(self):
        with self.assertRaisesRegex(thermix.Error, "place policy made names no GPU"):
            thermix.run({**CARD, "stuck_s": 2.0, "place": {"policy": "made"}},
                        policies=[made(lambda self, view, job: None, policy.Place)])

    def test_what_a_policy_sees_is_read_only(self):
        tried = []

        def decide(self, view, request):
            def refuses(error, change):
                try:
                    change()
                except error:
                    tried.append(change)
                else:
                    raise AssertionError("written")
            def hotter():
                view.hottest_k[:] -= 273.15
            def sensed():
                view.sensed_k[0] = 0
            def queue():
                view.gpus[0].queue[0] = 5
            def gpus():
                view.gpus[0] = None
            for change in hotter, sensed, queue:
                refuses(ValueError, change)
            refuses(TypeError, gpus)
            refuses(AttributeError, lambda: setattr(view.gpus[0], "n_queue", 999))
            refuses(AttributeError, lambda: setattr(view, "hottest_k", None))
            refuses(AttributeError, lambda: setattr(view.jobs[0], "priority", 9))
        r = thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(decide)])
        r.step(600)
        self.assertGreaterEqual(len(tried), 7)


    def test_what_a_policy_keeps_ends_with_the_call(self):
        kept = {}

        def decide(self, view, request):
            kept.update(view=view, gpu=view.gpus[0], ask=request.gpus[0], request=request, gate=request.gate, hot=view.sensed_k,
                        part=request.gpus[0].part, run=view.gpus[0].run)
            request.gate[0] = True
            request.gpus[0].level = 1
        r = thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(decide)])
        r.step(600)
        self.assertEqual(r.gpu_level[0], 1)  # and what it wrote is there
        for use in (lambda: kept["view"].time_s, lambda: kept["view"].hottest_k, lambda: kept["view"].n_gpu, lambda: kept["gpu"].queue,
                    lambda: kept["gpu"].n_queue, lambda: kept["request"].gate, lambda: setattr(kept["ask"], "share", 0.5),
                    lambda: kept["ask"].level):
            self.assertRaisesRegex(RuntimeError, "end with the call", use)
        r.close()
        gc.collect()
        kept["gate"][:], kept["part"][:] = True, 9  # a policy's own memory
        self.assertTrue((kept["hot"] > 200).all() and kept["run"][0] < 2)

    def test_a_guard_stops_what_its_gate_names(self):
        def guard(self, view, request):
            request.gate[3] = view.time_s > -4
        p = made(lambda self, view, request: None, guard=guard)
        r = thermix.Run({**BASE, "throttle": {"policy": "made"}}, policies=[p])
        r.step(200)
        self.assertEqual(np.flatnonzero(r.sm_gated).tolist(), [3])


class TestHandles(unittest.TestCase):
    def test_a_run_closed_within_a_step_ends_the_step_first(self):
        kept = {}

        def decide(self, view, request):
            if "run" in kept:
                kept.pop("run").close()
        kept["run"] = r = thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(decide)])
        r.step(600)
        self.assertRaisesRegex(ValueError, "closed", r.step)
        kept["run"] = thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(lambda self, v, q: kept.clear())])
        kept["run"].step(600)  # the last reference is dropped
        gc.collect()

    def test_one_step_at_a_time(self):
        def decide(self, view, request):
            kept[0].step()
        kept = [thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(decide)])]
        self.assertRaisesRegex(RuntimeError, "in use", kept[0].step, 600)
        entered, go = threading.Event(), threading.Event()

        def wait(self, view, request):
            entered.set()
            go.wait(60)
        r = thermix.Run({**BASE, "dtm": {"policy": "made"}}, policies=[made(wait)])
        thread = threading.Thread(target=r.step, args=(600,))
        thread.start()
        try:
            self.assertTrue(entered.wait(60))
            self.assertRaisesRegex(RuntimeError, "in use", r.step)
            self.assertRaisesRegex(RuntimeError, "in use", r.write, "nowhere")
            r.close()  # the step goes on
            gc.collect()
        finally:
            go.set()
            thread.join()
        self.assertRaisesRegex(ValueError, "closed", r.step)

    def test_an_engine_closed_in_another_thread_ends_its_step(self):
        e = thermix.Engine(chip="gtx280", grid_rows=32, grid_cols=32, method="grid")
        out = np.zeros((100, len(e.units)))
        handle, thread = e._handle, threading.Thread(target=e.step, args=(1e-3, np.ones_like(out), out))
        thread.start()
        while thread.is_alive() and not handle._turn.locked():
            pass
        del handle
        e.close()
        self.assertRaisesRegex(ValueError, "closed", e.temperatures)
        thread.join()
        self.assertGreater(out.min(), 200)

    def test_no_copies(self):
        r, e, c = thermix.Run(BASE), thermix.Engine(chip="gtx280", grid_rows=8, grid_cols=8), thermix.Config(BASE)
        for owner in (r, e, c):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                self.assertRaisesRegex(TypeError, "cannot be copied", copied, owner)

    def test_bad_arrays_and_texts_are_refused(self):
        e = thermix.Engine(chip="gtx280", grid_rows=8, grid_cols=8)
        watts = np.ones(len(e.units))
        self.assertRaisesRegex(TypeError, "masked", e.step, 0.01, np.ma.masked_array(watts, watts > 0))
        self.assertRaisesRegex(TypeError, "masked", e.steady, np.ma.masked_array(watts))
        self.assertRaisesRegex(ValueError, "out", e.step, 0.01, watts, np.ma.masked_array(watts.copy()))
        self.assertRaisesRegex(thermix.Error, "below 0", e.step, 0.01, -watts)
        self.assertRaisesRegex(thermix.Error, "below 0", e.steady, -watts)
        self.assertRaisesRegex(ValueError, "NUL", thermix.Engine, chip="gtx280\0x")
        self.assertRaisesRegex(ValueError, "NUL", thermix.Run, {**BASE, "mix": "WL1\0x"})
        self.assertRaisesRegex(ValueError, "NUL", thermix.Run, thermix.to_text(BASE) + "\0x = 1;")
        self.assertRaisesRegex(ValueError, "NUL", thermix.Run, BASE, ["seed=2\0x"])
        self.assertRaisesRegex(ValueError, "NUL", thermix.Run(BASE).write, "folder\0x")
        self.assertRaisesRegex(ValueError, "NUL", thermix.Run, BASE, policies=[made(Slow.decide, name="made\0x")])


GYMNASIUM = """
import importlib
registry = {}
class Env:
    def reset(self, *, seed=None, options=None):
        self.seeded = seed
def register(id, entry_point):
    registry[id] = entry_point
def make(id, **kwargs):
    module, name = registry[id].split(":")
    return getattr(importlib.import_module(module), name)(**kwargs)
"""
SPACES = """
import numpy as np
class Box:
    def __init__(self, low, high, shape=None, dtype=np.float32):
        self.low, self.high, self.shape, self.dtype = low, high, shape, dtype
    def contains(self, x):
        return x.shape == self.shape and x.dtype == self.dtype and bool((x >= self.low).all() and (x <= self.high).all())
class Dict(dict):
    def contains(self, x):
        return isinstance(x, dict) and x.keys() == self.keys() and all(s.contains(x[k]) for k, s in self.items())
class MultiDiscrete:
    def __init__(self, nvec, dtype=np.int64, seed=None):
        self.nvec = np.array(nvec, dtype)
    def contains(self, x):
        return bool((np.asarray(x) < self.nvec).all() and (np.asarray(x) >= 0).all())
    def seed(self, seed=None):
        self.seeded = seed
    def sample(self):
        return self.nvec - 1
"""
USE = """
import gymnasium, thermix
env = gymnasium.make("thermix/Clock-v0", every_s=1.0, most_s=2.0)
seen, info = env.reset(seed=5)
inside = env.observation_space.contains(seen)
seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
print(inside and env.observation_space.contains(seen), isinstance(env, gymnasium.Env), env.seeded)
"""


class TestEnvironment(unittest.TestCase):
    def test_an_episode(self):
        env = thermix.Environment(BASE, every_s=2.0)
        seen, info = env.reset(seed=7)
        self.assertTrue(env.observation_space.contains(seen))
        self.assertLess(info["time_s"], 0)
        steps, done, total = 0, False, 0.0
        while not done:
            seen, reward, done, truncated, info = env.step([0])
            self.assertFalse(truncated)
            steps, total = steps + 1, total + reward
        self.assertTrue(env.observation_space.contains(seen))
        self.assertEqual(seen["job_done"].tolist(), [1, 1])
        self.assertAlmostEqual(total, 100, delta=1e-6)
        again = thermix.Environment(BASE, every_s=2.0)
        again.reset(seed=7)
        other = [again.step(np.array([0]))[0] for _ in range(steps)]
        self.assertTrue(np.array_equal(other[-1]["unit_temp_k"], seen["unit_temp_k"]))

    def test_gymnasium_gets_the_environment_where_it_is_installed(self):
        with tempfile.TemporaryDirectory() as folder: # what of gymnasium is used, as its documents have it
            (pathlib.Path(folder) / "gymnasium").mkdir()
            (pathlib.Path(folder) / "gymnasium/__init__.py").write_text(GYMNASIUM)
            (pathlib.Path(folder) / "gymnasium/spaces.py").write_text(SPACES)
            done = subprocess.run([sys.executable, "-B", "-c", USE], capture_output=True, text=True, env={
                **os.environ, "PYTHONPATH": folder + os.pathsep + os.environ.get("PYTHONPATH", "")})
            self.assertEqual(done.stdout, "True True 5\n", done.stderr)

    def test_actions_act_and_bad_ones_are_refused(self):
        for times in ({"every_s": 0}, {"every_s": -2.0}, {"most_s": float("nan")}):
            self.assertRaisesRegex(ValueError, "expected times above 0", thermix.Environment, BASE, **times)
        for sets in ({"dtm.policy": "dvfs"}, {"policy": "DVFS"}):
            self.assertRaisesRegex(ValueError, "takes its place", thermix.Environment, BASE, sets)
        env = thermix.Environment(BASE, every_s=2.0, most_s=3.0)
        self.assertRaisesRegex(ValueError, "reset", env.step, [0])
        env.reset()
        slowest = env.action_space.nvec - 1
        for action in ([-1], [99], [0, 0], [0.5]):
            self.assertRaisesRegex(ValueError, "clock levels", env.step, action)
        truncated = False
        while not truncated:
            seen, _, done, truncated, _ = env.step(slowest)
            self.assertFalse(done)
        self.assertEqual(seen["gpu_level"].tolist(), slowest.tolist())
        self.assertTrue(env.action_space.contains(env.action_space.sample()))


if __name__ == "__main__":
    unittest.main()
