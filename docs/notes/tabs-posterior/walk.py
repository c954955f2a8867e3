#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which constants and readings of paper 003 agree with what it prints: adaptive multiple importance sampling of suite tabs-posterior.

    walk.py OUT [--minutes 90] [--sets 150] [--seed 1]      # of processor time; with thermix in PATH, and numpy

Each generation is a suite OUT/gK.cfg with explicit sets, run by `thermix table` into OUT/gK; a generation that is there is not run
again. After each, OUT has sets.csv (all sets, with columns importance and importance_wide: a prior's density over that of the mixture
that all generations were drawn from) and values.csv: `thermix posterior OUT` weighs them. What is sampled is read from the suite; priors
and the rest are stated there."""
import argparse
import csv
import io
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess

import numpy as np

here = pathlib.Path(__file__).resolve().parent
suite = here.parents[2] / "workloads/suites/tabs-posterior.cfg"
FLIP, FRESH, STEP = 0.15, 0.05, 0.7  # a reading changes; a set is of the priors again; the steps' size, in standard deviations
WATTS, EXP = "chip_power.leakage_w", "chip_power.leakage_exp_per_k"

a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
a.add_argument("out", type=pathlib.Path)
a.add_argument("--minutes", type=float, default=90)
a.add_argument("--sets", type=int, default=150)
a.add_argument("--seed", type=int, default=1)
a = a.parse_args()
text = suite.read_text()
axes = re.findall(r'\{ key = "([^"]+)"; (range|log) = \{ from = ([^;]+); to = ([^;]+); \}; \}', text)
keys = [k for k, *_ in axes]
log = np.array([kind == "log" for _, kind, *_ in axes])
low, high = (np.array([math.log(float(x[i])) if x[1] == "log" else float(x[i]) for x in axes]) for i in (2, 3))
words = [(k, [w.strip() for w in v.split(",")]) for k, v in re.findall(r'\{ key = "([^"]+)"; values = \[([^\]]*)\]; \}', text)]
sizes = np.array([len(v) for _, v in words])
rng = np.random.default_rng(a.seed)
erf = np.vectorize(math.erf)


def share(x):  # of a normal deviate: where it is in its axis, 0 to 1
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def values_of(x):
    v = low + (high - low) * share(x)
    return np.where(log, np.exp(v), v)


def allowed(x):  # release below emergency: the priors' one constraint
    v = values_of(x)
    return v[:, keys.index("$release_c")] < v[:, keys.index("$emergency_c")]


def measured(x):
    """Density of the prior with measured leakage over the wide one's: 0.2 to 0.7 W/K uniform, exponents of 0.009 to 0.036."""
    v = values_of(x)
    watts, exp = v[:, keys.index(WATTS)], v[:, keys.index(EXP)]
    i, j = keys.index(WATTS), keys.index(EXP)
    inside = (watts * exp >= 0.2) & (watts * exp <= 0.7) & (exp <= 0.036)
    return np.where(inside, exp / 0.5 / math.log(4) * (high[i] - low[i]) * (high[j] - low[j]), 0)


def draw_prior(n, narrow):
    xs, rs = [], []
    while len(xs) < n:
        x = rng.standard_normal((1, len(keys)))
        m = measured(x)[0] if narrow else 1
        # the narrow prior by rejection: its density over the wide one's is at most 8
        if allowed(x)[0] and (not narrow or rng.random() * 8 < m):
            xs.append(x[0])
            rs.append([rng.integers(s) for s in sizes])
    return np.array(xs), np.array(rs)


PRIOR = allowed(rng.standard_normal((100000, len(keys)))).mean()  # the constraint's share of the priors


class Generation:
    """What a generation is drawn from: priors, or steps from centres. density() is over the wide prior's, up to one factor."""

    def __init__(self, centre=None, reading=None, weight=None, cov=None):
        self.centre, self.reading, self.weight = centre, reading, weight
        if cov is not None:
            self.chol = np.linalg.cholesky(cov)
            self.norm = -np.log(np.diag(self.chol)).sum()

    def draw(self, n):
        if self.centre is None:
            x, r = zip(draw_prior(n - n // 2, False), draw_prior(n // 2, True))
            return np.vstack(x), np.vstack(r)
        fresh = int((rng.random(n) < FRESH).sum())
        x, r = zip(*(draw_prior(1, rng.random() < 0.5) for _ in range(fresh))) if fresh else ((), ())
        xs, rs, tried = list(x), list(r), 0
        while len(xs) < n:
            k = rng.choice(len(self.weight), p=self.weight)
            y = self.centre[k : k + 1] + rng.standard_normal((1, len(keys))) @ self.chol.T
            tried += 1
            if allowed(y)[0]:
                xs.append(y)
                rs.append(np.where(rng.random(len(sizes)) < FLIP, rng.integers(sizes), self.reading[k])[None])
        self.accepted = (n - fresh) / tried  # the constraint's share of the steps
        return np.vstack(xs), np.vstack(rs)

    def density(self, x, r):
        prior = 0.5 * (1 + measured(x))
        if self.centre is None:
            return prior
        out = np.zeros(len(x))
        for c, q, w in zip(self.centre, self.reading, self.weight):
            z = np.linalg.solve(self.chol, (x - c).T)
            readings = np.where(r == q, 1 - FLIP + FLIP / sizes, FLIP / sizes).prod(axis=1) * sizes.prod()
            out += w * readings * np.exp(self.norm - 0.5 * (z * z).sum(axis=0) + 0.5 * (x * x).sum(axis=1))
        return FRESH * prior + (1 - FRESH) * out * PRIOR / self.accepted


def run(k, x, r):
    folder = a.out / f"g{k}"
    rows = ",\n".join("(" + ", ".join([repr(float(v)) for v in values] + [w[i] for (_, w), i in zip(words, q)]) + ")"
                      for values, q in zip(values_of(x), r))
    names = ", ".join(f'"{n}"' for n in keys + [n for n, _ in words])
    begin, end = text.index("    seed = 1;\n    sample"), text.index("    screen = (")
    own = text[:begin] + f"    axes = ( {{ keys = [{names}]; values = ( {rows} ); }} );\n" + text[end:]
    own = own.replace('@include "tabs/', f'@include "{suite.parent}/tabs/')
    (a.out / f"g{k}.cfg").write_text(own)
    if not (folder / "sets.csv").exists():
        cache = a.out / "cache"  # a thermal model a set: shared by its runs, and no longer
        subprocess.run(["thermix", "table", str(a.out / f"g{k}.cfg"), "-q", "-j", "1", "-o", str(folder)], stdout=subprocess.DEVNULL,
                       env={**os.environ, "XDG_CACHE_HOME": str(cache)})
        shutil.rmtree(cache, ignore_errors=True)
    with open(folder / "sets.csv") as f:
        return list(csv.DictReader(f))


def write(rows, generation, importance, wide):
    names = list(rows[0])
    with open(a.out / "sets.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(names + ["generation", "importance", "importance_wide"])
        for i, row in enumerate(rows):
            w.writerow([i] + [row[n] for n in names[1:]] + [generation[i], repr(float(importance[i])), repr(float(wide[i]))])
    (a.out / "values.csv").write_text((a.out / "g0/values.csv").read_text())


def weights(column):  # of all sets, by thermix; 0 where it did not run in full
    out = np.zeros(len(rows))
    p = subprocess.run(["thermix", "posterior", str(a.out), "--importance", column, "--show", "sets", "--format", "csv",
                        "--columns", "set,weight"], capture_output=True, text=True, check=True)
    for row in csv.DictReader(io.StringIO(p.stdout)):
        out[int(row["set"])] = float(row["weight"])
    return out


def minutes():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def effective(w):
    return w.sum() ** 2 / (w * w).sum() if w.any() else 0.0


def tempered(w, least=60):  # to as many as `least` of equal weight
    b = 1.0
    while effective(np.where(w > 0, w, 0) ** b * (w > 0)) < min(least, 0.8 * (w > 0).sum()) and b > 0.01:
        b *= 0.9
    w = np.where(w > 0, w, 0) ** b * (w > 0)
    return w / w.sum()


a.out.mkdir(parents=True, exist_ok=True)
generations, xs, rs, rows, of = [Generation()], [], [], [], []
while True:
    k = len(generations) - 1
    x, r = generations[k].draw(4 * a.sets if k == 0 else a.sets)
    got = run(k, x, r)
    xs, rs = (np.vstack([xs, x]), np.vstack([rs, r])) if k else (x, r)
    rows += got
    of += [k] * len(got)
    count = np.bincount(of)
    mixture = sum(n * g.density(xs, rs) for n, g in zip(count, generations)) / count.sum()
    write(rows, of, measured(xs) / mixture, 1 / mixture)
    w, wide = weights("importance"), weights("importance_wide")
    print(f"generation {k}: {len(rows)} sets, {sum(q['status'] == 'done' for q in rows)} in full; as many as {effective(w):.1f} of equal "
          f"weight, {effective(wide):.1f} with the wide prior; {minutes():.0f} min", flush=True)
    if minutes() > a.minutes:
        break
    # two parts measured leakage, one part wide
    p = (2 * tempered(w) + tempered(wide)) / 3
    keep = p > 1e-6
    centre, weight = xs[keep], p[keep] / p[keep].sum()
    mean = weight @ centre
    cov = (centre - mean).T @ ((centre - mean) * weight[:, None])
    generations.append(Generation(centre, rs[keep], weight, STEP**2 * (cov + 0.01 * np.eye(len(keys)))))
