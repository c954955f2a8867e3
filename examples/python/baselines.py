# SPDX-License-Identifier: GPL-3.0-or-later
"""What simple agents reach in thermix.Environment: the line that a learning agent has to beat.

    python3 baselines.py [--set KEY=VALUE] [--every SECONDS] [--most SECONDS]

Prints a row an agent: its return (the sum of rewards), work done [%], throttled SM time [s], hottest SM [degC], steps.
"""

import argparse

import numpy as np

import thermix


def fastest(env, seen):
    return np.zeros_like(env.action_space.nvec)


def slowest(env, seen):
    return env.action_space.nvec - 1


def random(env, seen):
    return env.action_space.sample()


def rule(env, seen):
    """One level down above 88 degC, one up below 86 degC."""
    hottest_c = seen["sm_sensed_k"].max() - 273.15
    level = seen["gpu_level"].astype(int) + (hottest_c > 88) - (hottest_c < 86)
    return np.clip(level, 0, env.action_space.nvec - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--every", type=float, default=0.5)
    parser.add_argument("--most", type=float, default=120)
    a = parser.parse_args()
    env = thermix.Environment(sets=a.set, every_s=a.every, most_s=a.most)
    print("agent,return,work_pct,throttled_s,hottest_c,steps")
    for agent in (fastest, slowest, random, rule):
        seen, _ = env.reset(seed=1)
        total = throttled_s = steps = hottest_k = 0
        done = False
        while not done:
            seen, reward, terminated, truncated, info = env.step(agent(env, seen))
            total, throttled_s, steps = total + reward, throttled_s + info["throttled_s"], steps + 1
            hottest_k = max(hottest_k, seen["sm_sensed_k"].max())
            done = terminated or truncated
        print(f"{agent.__name__},{total:.2f},{100 * seen['job_done'].mean():.2f},{throttled_s:.2f},"
              f"{hottest_k - 273.15:.2f},{steps}")


if __name__ == "__main__":
    main()
