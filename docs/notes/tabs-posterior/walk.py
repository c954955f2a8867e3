#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which constants and readings of paper 003 agree with what it prints: random walks through the sets of suite tabs-posterior.

    walk.py OUT [--minutes 90] [--chains 120] [--burn 4] [--seed 1]      # of processor time; with thermix in PATH, and numpy

Generation 0 is drawn from the priors. From then on each of the walks proposes one set a generation, the end of fifty steps through a
surrogate: a Gaussian process for each of the numbers that have weight, of all sets so far. It is accepted by how likely set and proposal
are in fact, over how likely the surrogate holds them (delayed acceptance): the surrogate decides how often a proposal is taken, and not
what is likely. A generation is a suite OUT/gK.cfg with explicit sets, run by `thermix table` into OUT/gK; one that is there is not run
again. OUT gets the sets that walks stood on after the first --burn generations: sets.csv, with columns importance and importance_wide,
which make `thermix posterior OUT` weigh a set by how often walks stood there, under either prior of leakage; and values.csv. What is
sampled is read from the suite; priors and the rest are stated there."""
import argparse
import csv
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

import numpy as np

here = pathlib.Path(__file__).resolve().parent
suite = here.parents[2] / "workloads/suites/tabs-posterior.cfg"
WATTS, EXP, EMERGENCY, RELEASE = "chip_power.leakage_w", "chip_power.leakage_exp_per_k", "$emergency_c", "$release_c"
STEPS, FLIP, MOST = 50, 0.3, 1200  # of a proposal; chance that a step changes a reading; sets that the surrogate takes

a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
a.add_argument("out", type=pathlib.Path)
a.add_argument("--minutes", type=float, default=90)
a.add_argument("--chains", type=int, default=120)
a.add_argument("--first", type=int, default=1000)
a.add_argument("--burn", type=int, default=4)
a.add_argument("--seed", type=int, default=1)
a = a.parse_args()
text = suite.read_text()
axes = re.findall(r'\{ key = "([^"]+)"; (range|log) = \{ from = ([^;]+); to = ([^;]+); \}; \}', text)
keys = [k for k, *_ in axes]
log = np.array([kind == "log" for _, kind, *_ in axes])
low, high = (np.array([math.log(float(x[i])) if x[1] == "log" else float(x[i]) for x in axes]) for i in (2, 3))
words = [(k, [w.strip() for w in v.split(",")]) for k, v in re.findall(r'\{ key = "([^"]+)"; values = \[([^\]]*)\]; \}', text)]
sizes = np.array([len(v) for _, v in words])
at = {k: keys.index(k) for k in keys}
rng = np.random.default_rng(a.seed)
erf = np.vectorize(math.erf)


def share(x):  # of a normal deviate: where it is in its axis, 0 to 1
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def values_of(x):
    v = low + (high - low) * share(x)
    return np.where(log, np.exp(v), v)


def measured(x):
    """Density of the prior with measured leakage over the wide one's: 0.2 to 0.7 W/K uniform, exponents of 0.009 to 0.036."""
    v = values_of(x)
    watts, exp = v[:, at[WATTS]], v[:, at[EXP]]
    i, j = at[WATTS], at[EXP]
    inside = (watts * exp >= 0.2) & (watts * exp <= 0.7) & (exp <= 0.036)
    return np.where(inside, exp / 0.5 / math.log(4) * (high[i] - low[i]) * (high[j] - low[j]), 0)


def log_prior(x):  # half of either prior; release below emergency is their one constraint
    v = values_of(x)
    with np.errstate(divide="ignore"):
        return -0.5 * (x * x).sum(axis=1) + np.log(0.5 * (1 + measured(x)) * (v[:, at[RELEASE]] < v[:, at[EMERGENCY]]))


def draw_prior(n, narrow):
    xs = []
    while len(xs) < n:  # the narrow one by rejection: its density over the wide one's is at most 8
        x = rng.standard_normal((1, len(keys)))
        if np.isfinite(log_prior(x)[0]) and (not narrow or rng.random() * 8 < measured(x)[0]):
            xs.append(x[0])
    return np.array(xs), rng.integers(sizes, size=(n, len(sizes)))


def read(folder, x=None, r=None):
    """A generation's rows; what was drawn, from its file where it is not given."""
    with open(folder / "sets.csv") as f:
        rows = list(csv.DictReader(f))
    if x is None:
        from statistics import NormalDist

        u = np.array([[float(q[k]) for k in keys] for q in rows])
        u = (np.where(log, np.log(u), u) - low) / (high - low)
        x = np.vectorize(NormalDist().inv_cdf)(np.clip(u, 1e-12, 1 - 1e-12))
        r = np.array([[[w.strip('"') for w in v].index(q[k]) for k, v in words] for q in rows])
    return rows, x, r


def run(k, x, r):
    folder = a.out / f"g{k}"
    rows = ",\n".join("(" + ", ".join([repr(float(v)) for v in values] + [w[i] for (_, w), i in zip(words, q)]) + ")"
                      for values, q in zip(values_of(x), r))
    names = ", ".join(f'"{n}"' for n in keys + [n for n, _ in words])
    begin, end = text.index("    seed = 1;\n    sample"), text.index("    screen = (")
    own = text[:begin] + f"    axes = ( {{ keys = [{names}]; values = ( {rows} ); }} );\n" + text[end:]
    own = own.replace('@include "tabs/', f'@include "{suite.parent}/tabs/')
    (a.out / f"g{k}.cfg").write_text(own)
    cache = a.out / "cache"  # a thermal model a set: shared by its runs, and no longer
    subprocess.run(["thermix", "table", str(a.out / f"g{k}.cfg"), "-q", "-j", "1", "-o", str(folder)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    shutil.rmtree(cache, ignore_errors=True)


def errors(rows):
    """asinh of each term's z, as `thermix posterior` forms it; NaN where a set did not run in full."""
    terms = {}
    for i, v in enumerate(numbers):
        if v["weighs"] == "yes" and v["follows"] != "yes" and v["relation"] == "equal" and float(v["band"]) > 0:
            terms.setdefault(v["as_one"] or i, []).append(i)
    z = np.array([[(float(q[f"v{i + 1}"] or "nan") - float(v["paper_value"])) / (math.hypot(float(v["band"]), float(v["spread"] or 0)) or 1)
                   for i, v in enumerate(numbers)] for q in rows])
    z[[q["status"] != "done" for q in rows]] = np.nan
    return np.arcsinh(np.array([z[:, i].mean(axis=1) for i in terms.values()]).T)


def likely(t):  # log of the product of 1 / (1 + z^2)
    return np.where(np.isnan(t).any(axis=1), -np.inf, -2 * np.log(np.cosh(np.nan_to_num(t))).sum(axis=1))


def features(x, r):
    v, u = values_of(x), 2 * share(x) - 1
    more = [np.log(v[:, at["package.t_chip"]] * v[:, at["package.k_spreader"]]) / 2, v[:, at[WATTS]] * v[:, at[EXP]],
            v[:, at[EMERGENCY]] - v[:, at[RELEASE]]]
    some = [(r[:, i] == j) * 1.0 for i, n in enumerate(sizes) for j in range(n if n > 2 else 1)]
    return np.column_stack([u, *more, *some])


class Process:
    """A Gaussian process: squared exponential with a length a feature, and noise, where the marginal likelihood is largest."""

    length, noise = None, 0.05

    @staticmethod
    def kernel(p, q, length):
        p, q = p / length, q / length
        return np.exp(-0.5 * np.maximum((p * p).sum(1)[:, None] + (q * q).sum(1)[None] - 2 * p @ q.T, 0))

    def unlikely(self, f, y, length, noise):
        c = np.linalg.cholesky(self.kernel(f, f, length) + noise * np.eye(len(y)))
        e = np.linalg.solve(c, y)
        return 0.5 * len(y) * math.log(e @ e) + np.log(np.diag(c)).sum()

    def search(self, f, y):
        self.length = np.full(f.shape[1], 3.0) if self.length is None else self.length
        best = self.unlikely(f, y, self.length, self.noise)
        for j in [*rng.permutation(f.shape[1]), -1]:
            for by in (0.6, 1 / 0.6):
                while True:
                    length, noise = self.length.copy(), self.noise
                    if j >= 0:
                        length[j] *= by
                    else:
                        noise *= by
                    if not (0.1 < length.min() and length.max() < 100 and 1e-4 < noise < 10):
                        break
                    new = self.unlikely(f, y, length, noise)
                    if new > best - 0.1:
                        break
                    best, self.length, self.noise = new, length, noise

    def fit(self, f, y, search):
        self.f, self.mean = f, y.mean()
        y = y - self.mean
        if search:
            some = np.arange(len(y)) if len(y) <= 400 else rng.choice(len(y), 400, replace=False)
            self.search(f[some], y[some])
        self.inverse = np.linalg.inv(self.kernel(f, f, self.length) + self.noise * np.eye(len(y)))
        self.a = self.inverse @ y
        self.size = y @ self.a / len(y)

    def at(self, f):
        k = self.kernel(f, self.f, self.length)
        return self.mean + k @ self.a, self.size * np.maximum(1 + self.noise - ((k @ self.inverse) * k).sum(axis=1), 1e-9)


def surrogate(x, r):
    f, out = features(x, r), np.zeros(len(x))
    for i, p in enumerate(processes):
        m, v = p.at(f)
        s = np.sqrt(3 * v)  # the mean of 1 / cosh^2 over what it may be
        out += np.log(2 / 3 / np.cosh(m) ** 2 + (1 / np.cosh(m + s) ** 2 + 1 / np.cosh(m - s) ** 2) / 6 + 1e-30)
    return out


def propose(x, r, cov):
    x, r, chol = x.copy(), r.copy(), np.linalg.cholesky(cov)
    now = surrogate(x, r) + log_prior(x)
    for _ in range(STEPS):
        y = x + rng.choice([0.2, 0.5, 1.0], (len(x), 1)) * 0.7 * (rng.standard_normal(x.shape) @ chol.T)
        q, flips, which = r.copy(), rng.random(len(x)) < FLIP, rng.integers(len(sizes), size=len(x))
        q[flips, which[flips]] = rng.integers(sizes[which[flips]])
        prior = log_prior(y)
        new = np.where(np.isfinite(prior), surrogate(y, q) + prior, -np.inf)
        take = np.log(rng.random(len(x))) < new - now
        x, r, now = np.where(take[:, None], y, x), np.where(take[:, None], q, r), np.where(take, new, now)
    return x, r


def minutes():
    used, own = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
    return (used.ru_utime + used.ru_stime + own) / 60


def turns(history):
    """Generations from one independent state of a walk to the next: the integrated autocorrelation, over all walks."""
    h = history - history.mean()
    var, tau = (h * h).mean(), 1.0
    for lag in range(1, len(h) - 1):
        c = (h[lag:] * h[:-lag]).mean() / var if var > 0 else 0
        if c < 0.05:
            break
        tau += 2 * c
    return tau


a.out.mkdir(parents=True, exist_ok=True)
rows, x, r, k = [], np.zeros((0, len(keys))), np.zeros((0, len(sizes)), int), 0
while k == 0 or (a.out / f"g{k}/sets.csv").exists():  # what is there, up to the walks' own generations, which are walked again
    if not (a.out / f"g{k}/sets.csv").exists():
        (xa, ra), (xb, rb) = draw_prior(a.first // 2, False), draw_prior(a.first // 2, True)
        run(0, np.vstack([xa, xb]), np.vstack([ra, rb]))
    got, xg, rg = read(a.out / f"g{k}")
    if k > 0 and len(got) == a.chains:
        break
    rows, x, r, k = rows + got, np.vstack([x, xg]), np.vstack([r, rg]), k + 1
with open(a.out / "g0/values.csv") as f:
    numbers = list(csv.DictReader(f))
t = errors(rows)
l = likely(t)
start = np.where(np.isfinite(l), np.exp(0.3 * (l - l.max())), 0)  # walks begin at what was likeliest so far
state = rng.choice(len(rows), a.chains, p=start / start.sum())
stood, processes = [], [Process() for _ in range(t.shape[1])]
g = 0
while minutes() < a.minutes:
    best = np.argsort(-l)[: min(MOST, np.isfinite(l).sum())]
    f = features(x[best], r[best])
    for i, p in enumerate(processes):
        p.fit(f, t[best, i], g % 3 == 0)
    cov = np.cov(x[state].T) + 0.01 * np.eye(len(keys))
    y, q = propose(x[state], r[state], cov)
    held = surrogate(np.vstack([x[state], y]), np.vstack([r[state], q]))
    if (a.out / f"g{k}/sets.csv").exists():
        was = read(a.out / f"g{k}")
        if not (np.allclose(values_of(was[1]), values_of(y), rtol=1e-6) and (was[2] == q).all()):
            raise SystemExit(f"walk.py: {a.out}/g{k} is of other walks: remove it and those after it, or give another OUT")
    else:
        run(k, y, q)
    got, y, q = read(a.out / f"g{k}", y, q)
    new = likely(errors(got))
    take = np.log(rng.random(a.chains)) < new - held[a.chains :] - l[state] + held[: a.chains]
    state = np.where(take, len(rows) + np.arange(a.chains), state)
    rows, x, r, k, g = rows + got, np.vstack([x, y]), np.vstack([r, q]), k + 1, g + 1
    t = errors(rows)
    l = likely(t)
    if g > a.burn:
        stood.append(state.copy())
    full = np.isfinite(new)
    off = np.std((new - held[a.chains :])[full]) if full.any() else 0
    print(f"generation {k - 1}: {full.sum()} of {a.chains} in full, {take.sum()} taken; error of the surrogate's log {off:.2f}; "
          f"mean log weight {l[state].mean():.2f}; {minutes():.0f} min", flush=True)
    if len(stood) < 2:
        continue
    count = np.bincount(np.concatenate(stood), minlength=len(rows))
    kept, m = np.flatnonzero(count), measured(x)
    for name, of in (("measured", m / (1 + m)), ("wide", 1 / (1 + m))):
        w = count * of
        if not w.any():
            print(f"  {name}: no walk has stood on a set of this prior")
            continue
        tau = max(turns(np.array([[float(rows[i][c]) * 1.0 for i in s] for s in stood])) for c in ("v3", "v5", "v6", "v7", "v14"))
        print(f"  {name}: {w.sum() ** 2 / (w * w).sum():.0f} of equal weight; {w.sum() ** 2 / (count * of * of).sum() / tau:.0f} independent "
              f"({tau:.1f} generations)", flush=True)
    with open(a.out / "sets.csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        names = list(rows[0])
        out.writerow(names + ["importance", "importance_wide"])
        for n, i in enumerate(kept):
            often = count[i] / math.exp(l[i] - l[kept].max())
            out.writerow([n] + [rows[i][c] for c in names[1:]] + [f"{often * v:.6g}" for v in (m[i] / (1 + m[i]), 1 / (1 + m[i]))])
    shutil.copy(a.out / "g0/values.csv", a.out / "values.csv")
