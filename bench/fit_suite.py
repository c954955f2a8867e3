#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit parameters of a suite to the paper's values in it, by running the suite.

    bench/fit_suite.py TEMPLATE name=LOW:START:HIGH ... [options]

TEMPLATE is a suite file (kind "tabs") in which @name@ stands where the parameter's value goes. Every row of the suite's
paper.csv with a band is one number to meet: z = (ours - paper) / band. The score is the sum of log(1 + z^2), the
logarithmic score of a Cauchy distribution as wide as the band: proper, and a number out of reach does not outvote the
rest. The search is differential evolution around the start (--global N runs), then Gauss-Newton steps on the same
score (--local N). Every run is a line of LOG, so a search that was stopped goes on where it was.

    --log LOG          evaluations so far and from now on (CSV; default fit.csv)
    --global N         runs of the global search (default 0)
    --local N          Gauss-Newton steps (default 2)
    --without FIGURE   leave these rows out of the score (they are still reported: cross-validation)
    --profile NAME=A,B,C    fix NAME at each value in turn and fit the rest: its profile
    --set KEY=VALUE    passed on to `thermix table` (coarser ticks make a search cheap)
    --thermix PATH     the program (default: thermix)
    --seed N           of the random numbers (default 1)
"""
import argparse, csv, math, os, random, subprocess, sys, tempfile


class Fit:
    def __init__(self, a):
        self.a, self.template = a, open(a.template).read()
        self.names, self.low, self.start, self.high = [], [], [], []
        for p in a.parameter:
            name, span = p.split("=")
            low, start, high = (float(x) for x in span.split(":"))
            if f"@{name}@" not in self.template:
                sys.exit(f"{a.template}: has no @{name}@")
            self.names.append(name), self.low.append(low), self.start.append(start), self.high.append(high)
        self.done = {}
        if os.path.exists(a.log):
            for row in csv.DictReader(open(a.log)):
                x = tuple(float(row[n]) for n in self.names)
                self.done[x] = {k: float(v) for k, v in row.items() if k not in self.names}

    def run(self, x):
        """z of every row with a band, by "figure|quantity|case"; runs the suite unless the log has it."""
        x = tuple(float(f"{v:.6g}") for v in x)
        if x not in self.done:
            text = self.template
            for name, v in zip(self.names, x):
                text = text.replace(f"@{name}@", repr(v))
            with tempfile.TemporaryDirectory() as d:
                open(f"{d}/suite.cfg", "w").write(text)
                r = subprocess.run([self.a.thermix, "table", f"{d}/suite.cfg", "-q", "-o", f"{d}/out"]
                                   + [w for s in self.a.set for w in ("--set", s)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
                if r.returncode == 2 or not os.path.exists(f"{d}/out/paper.csv"):
                    sys.exit(r.stderr)
                z = {}
                for row in csv.DictReader(open(f"{d}/out/paper.csv")):
                    if row["relation"] == "equal" and float(row["band"]) > 0 and row["paper_value"] and row["origin"] != "identity":
                        ours = float(row["ours"]) if row["ours"] else math.nan
                        key = "|".join((row["figure"], row["quantity"], row["case"]))
                        z[key] = (ours - float(row["paper_value"])) / float(row["band"])
            self.done[x] = z
            new = not os.path.exists(self.a.log)
            with open(self.a.log, "a") as f:
                if new:
                    print(*self.names, *('"%s"' % k for k in z), sep=",", file=f)
                print(*x, *z.values(), sep=",", file=f)
        return self.done[x]

    def used(self, x):
        z = self.run(x)
        return [v if math.isfinite(v) else 100 for k, v in z.items() if k.split("|")[0] not in self.a.without]

    def score(self, x):
        return sum(math.log(1 + z * z) for z in self.used(x))

    def clip(self, x):
        return [min(max(v, lo), hi) for v, lo, hi in zip(x, self.low, self.high)]

    def search(self, runs, rng, fixed=()):
        """Differential evolution, rand-to-best/1/bin, from points around the start and from what the log has."""
        n = 4 + 2 * len(self.names)
        spread = [(hi - lo) / 6 for lo, hi in zip(self.low, self.high)]
        pop = sorted(self.done, key=self.score)[: n // 2]
        pop += [self.clip([rng.gauss(m, s) for m, s in zip(self.start, spread)]) for _ in range(n - len(pop))]
        for _ in range(runs):
            pop.sort(key=self.score)
            i, b, c = rng.randrange(n), *rng.sample(range(n), 2)
            f, pull = rng.uniform(0.3, 0.9), rng.uniform(0, 0.8)
            y = [v + pull * (best - v) + f * (p - q) if rng.random() < 0.8 else v
                 for v, best, p, q in zip(pop[i], pop[0], pop[b], pop[c])]
            y = self.clip(y)
            if self.score(y) <= self.score(pop[i]):
                pop[i] = y
            self.report(min(pop, key=self.score))
        return min(pop, key=self.score)

    def descend(self, x, steps, fixed=()):
        """Gauss-Newton with the weights 1 / (1 + z^2) of the score; a step that does not help is halved."""
        free = [i for i, n in enumerate(self.names) if n not in fixed]
        for _ in range(steps):
            z0, columns = self.used(x), []
            h = [(hi - lo) / 100 for lo, hi in zip(self.low, self.high)]
            for i in free:
                y = list(x)
                y[i] += h[i] if y[i] + h[i] <= self.high[i] else -h[i]
                columns.append([(a - b) / (y[i] - x[i]) * h[i] for a, b in zip(self.used(y), z0)])
            w = [1 / (1 + z * z) for z in z0]
            a = [[sum(wk * p * q for wk, p, q in zip(w, ci, cj)) + (1e-2 if i == j else 0) for j, cj in enumerate(columns)]
                 for i, ci in enumerate(columns)]
            g = [-sum(wk * p * z for wk, p, z in zip(w, ci, z0)) for ci in columns]
            d, scale = solve(a, g), 1.0
            while scale > 0.1:
                y = list(x)
                for i, di in zip(free, d):
                    y[i] += scale * di * h[i]
                y = self.clip(y)
                if self.score(y) < self.score(x):
                    break
                scale /= 2
            if self.score(y) >= self.score(x):
                break
            x = y
            self.report(x)
        return x

    def report(self, x, out=sys.stderr):
        z = self.used(x)
        print("score %.2f, %d of %d in band: %s" % (self.score(x), sum(abs(v) <= 1 for v in z), len(z), ", ".join(
            "%s %.5g" % p for p in zip(self.names, x))), file=out)


def solve(a, b):
    """Gaussian elimination with pivoting; a is small."""
    n, m = len(b), [row + [v] for row, v in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            m[r] = [u - f * v for u, v in zip(m[r], m[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("template")
    p.add_argument("parameter", nargs="+")
    for flag, default in (("--log", "fit.csv"), ("--thermix", "thermix"), ("--profile", "")):
        p.add_argument(flag, default=default)
    for flag, default in (("--global", 0), ("--local", 2), ("--seed", 1)):
        p.add_argument(flag, type=int, default=default)
    for flag in ("--without", "--set"):
        p.add_argument(flag, action="append", default=[])
    a = p.parse_args()
    fit, rng = Fit(a), random.Random(a.seed)
    x = min([tuple(fit.start), *fit.done], key=fit.score)
    if vars(a)["global"]:
        x = fit.search(vars(a)["global"], rng)
    x = fit.descend(list(x), a.local)
    fit.report(x, sys.stdout)
    for key, z in fit.run(x).items():
        print("%6.2f  %s%s" % (z, key, "  (left out)" if key.split("|")[0] in a.without else ""))
    if a.profile:
        name, values = a.profile.split("=")
        i = fit.names.index(name)
        for v in values.split(","):
            y = list(x)
            y[i] = float(v)
            y = fit.descend(y, a.local, fixed=(name,))
            fit.report(y, sys.stdout)


if __name__ == "__main__":
    main()
