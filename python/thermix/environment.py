# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as an environment for reinforcement learning, in Gymnasium's manner, with Gymnasium or without it.

    env = thermix.Environment({"chip": "gtx280", "mix": "WL1", "policy": "MU", "seed": 1, "tick_s": 0.01})
    observation, info = env.reset()
    while True:
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Where Gymnasium is installed, an Environment is one of its own, and `import thermix` registers "thermix/Clock-v0":
`gymnasium.make("thermix/Clock-v0")`, DEFAULT below, or `gymnasium.make("thermix/Clock-v0", config=...)`.

An action is the slowest clock level of each GPU (0: full speed), in force until the next step; the mix
policy and the hardware's throttle work as configured.
"""

import re

import numpy as np

from .config import Config, to_text
from .policy import Dtm
from .runs import Run


try:
    import gymnasium
    from gymnasium.spaces import Box, Dict, MultiDiscrete

    _Base = gymnasium.Env
except ImportError:
    gymnasium, _Base = None, object

    class Box:
        """Arrays of reals between bounds, as gymnasium.spaces.Box."""

        def __init__(self, low, high, shape, dtype=np.float64):
            self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
            self.shape, self.dtype = tuple(shape), np.dtype(dtype)

        def contains(self, x):
            return np.shape(x) == self.shape and bool((x >= self.low).all() and (x <= self.high).all())

    class Dict(dict):
        """Named spaces, as gymnasium.spaces.Dict."""

        def contains(self, x):
            return set(x) == set(self) and all(space.contains(x[name]) for name, space in self.items())

    class MultiDiscrete:
        """Arrays of integers 0 .. nvec - 1, as gymnasium.spaces.MultiDiscrete."""

        def __init__(self, nvec, seed=None):
            self.nvec = np.asarray(nvec, np.int64)
            self.shape, self.dtype = self.nvec.shape, np.dtype(np.int64)
            self._rng = np.random.default_rng(seed)

        def contains(self, x):
            x = np.asarray(x)
            return x.shape == self.shape and x.dtype.kind in "iu" and bool(((x >= 0) & (x < self.nvec)).all())

        def seed(self, seed=None):
            self._rng = np.random.default_rng(seed)

        def sample(self):
            return self._rng.integers(self.nvec)


class _Levels(Dtm):
    """Clock levels that an agent outside the simulation asks for."""

    name = "environment"
    unreproducible = "actions of an agent"

    def __init__(self):
        super().__init__()
        self.wanted = ()

    def decide(self, view, request):
        for ask, level in zip(request.gpus, self.wanted):
            ask.level = max(ask.level, int(level))


def work_and_heat(before, after, info):
    """Reward: share of all work done in the step, in percent, less 1 for each second of throttled SM time."""
    done = 100 * (after["job_done"] - before["job_done"]).mean()
    return float(done - info["throttled_s"])


DEFAULT = {"chip": "gtx280", "mix": "WL1", "policy": "BL", "seed": 1, "tick_s": 0.01, "rows": 16, "cols": 16}


class Environment(_Base):
    """reset() and step(action) as Gymnasium has them.

    config, sets: as thermix.Run, with dtm.policy none, whose place the environment takes; every_s: simulated time of a
    step; most_s: of an episode, after which it is truncated; reward(before, after, info): from the
    observations around a step and what metrics changed by in it.
    An observation is a dict of arrays: unit_temp_k, unit_power_w, sm_sensed_k, gpu_level, job_done.
    """

    OBSERVED = {"unit_temp_k": 1e4, "unit_power_w": 1e6, "sm_sensed_k": 1e4, "gpu_level": 1e3, "job_done": 1.0}

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, config=DEFAULT, sets=(), every_s=0.5, most_s=float("inf"), reward=work_and_heat):
        if not (every_s > 0 and most_s > 0):
            raise ValueError(f"every_s = {every_s}, most_s = {most_s}: expected times above 0")
        self._config = to_text(config) if isinstance(config, dict) else config
        self._sets = [f"{k}={v}" for k, v in sets.items()] if isinstance(sets, dict) else list(sets)
        self.every_s, self.most_s, self._reward = every_s, most_s, reward
        self._run = None
        with Run(Config(self._config, self._sets)) as run:
            dtm = re.search(r'^dtm = \{\s*policy = "(.*)"', run.resolved, re.M).group(1)
        if dtm != "none":
            raise ValueError(f"dtm.policy = {dtm!r}: the environment takes its place; expected none")
        run = self._open()
        n = {name: run.read(name).size for name in self.OBSERVED}
        self.observation_space = Dict({name: Box(-1e6 if name == "unit_power_w" else 0, high, (n[name],), np.float64)
                                       for name, high in self.OBSERVED.items()})
        self.action_space = MultiDiscrete(run.gpu_n_level.astype(int))

    def _open(self, seed=None):
        self._levels = _Levels()
        sets = self._sets + ["dtm.policy=environment"] + ([] if seed is None else [f"seed={seed}"])
        run = Run(Config(self._config, sets), policies=[self._levels])
        self._ticks = max(1, round(self.every_s / run.tick_s))
        return run

    def _observe(self):
        return {name: np.array(getattr(self._run, name)) for name in self.OBSERVED}

    def reset(self, *, seed=None, options=None):
        """A new episode; seed is that of the run. (observation, info)"""
        if gymnasium:
            super().reset(seed=seed)
        del options
        if seed is not None:
            self.action_space.seed(seed)
        self._run = self._open(seed)
        self._seen, self._metrics = self._observe(), self._run.metrics()
        return self._seen, {"time_s": self._run.time_s, "id": self._run.id}

    def step(self, action):
        """(observation, reward, terminated, truncated, info); info: what every metric changed by, and time_s."""
        if self._run is None:
            raise ValueError("call reset first")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r}: expected clock levels below {self.action_space.nvec.tolist()}")
        self._levels.wanted = np.asarray(action).tolist()
        terminated = self._run.step(self._ticks)
        seen, metrics = self._observe(), self._run.metrics()
        info = {name: value - self._metrics[name] for name, value in metrics.items()}
        reward = self._reward(self._seen, seen, info)
        self._seen, self._metrics = seen, metrics
        info["time_s"] = self._run.time_s
        return seen, reward, terminated, not terminated and info["time_s"] >= self.most_s, info

    def close(self):
        self._run = None


if gymnasium:
    gymnasium.register(id="thermix/Clock-v0", entry_point="thermix.environment:Environment")
