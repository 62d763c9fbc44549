# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of tests/bench/stats, looked over with SciPy and NumPy: prints what differs."""
import itertools
import math
import sys
import warnings

import numpy
from scipy import stats

warnings.simplefilter("ignore")
lines = open(sys.argv[1]).read().splitlines()
bad = seen = brute = joint = 0


def near(a, b, tolerance):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) == math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b)) or max(abs(a), abs(b)) < 1e-290


def check(what, ours, theirs, tolerance=1e-9):
    global bad, seen
    seen += 1
    if not near(ours, float(theirs), tolerance):
        bad += 1
        print(f"{head}: {what} is {ours!r}, SciPy has {theirs!r}")


def rank_test(x, y, paired, exact):
    if paired:
        d = y - x
        if not d.any():
            return 1
        return stats.wilcoxon(d, zero_method="wilcox", correction=True,
                              mode="exact" if exact else "approx").pvalue
    if not numpy.ptp(numpy.concatenate([x, y])):
        return 1
    return stats.mannwhitneyu(y, x, method="exact" if exact else "asymptotic").pvalue


def ranks_of(x, y, paired):
    """The mean ranks, and which of them make up the statistic; without zeros when paired."""
    if paired:
        d = (y - x)[y != x]
        return stats.rankdata(abs(d)), d > 0
    return stats.rankdata(numpy.concatenate([y, x])), numpy.arange(len(x) + len(y)) < len(y)


def brute_force(x, y, paired):
    """The exact p-value over all signs or orders; None where they are too many."""
    ranks, ours = ranks_of(x, y, paired)
    n, m = len(ranks), int(ours.sum())
    if n == 0:
        return 1
    if paired:
        if n > 12:
            return None
        picks = numpy.array(list(itertools.product([0, 1], repeat=n)))
        sums = picks @ ranks
    else:
        if math.comb(n, m) > 20000:
            return None
        sums = numpy.array([ranks[list(pick)].sum() for pick in itertools.combinations(range(n), m)])
    far = abs(2 * ranks[ours].sum() - 2 * sums.mean())
    return (abs(2 * sums - 2 * sums.mean()) >= far - 1e-7).mean()


def count_all(x, y, paired):
    """The same in whole numbers, by counting how often each sum occurs."""
    ranks, ours = ranks_of(x, y, paired)
    twice = [round(2 * r) for r in ranks]
    picks = {(0, 0): 1}
    for r in twice:
        grown = dict(picks)
        for (k, s), n in picks.items():
            key = (k if paired else k + 1, s + r)
            grown[key] = grown.get(key, 0) + n
        picks = grown
    sums = {}
    for (k, s), n in picks.items():
        if paired or k == ours.sum():
            sums[s] = sums.get(s, 0) + n
    total = sum(sums.values())
    mean = sum(s * n for s, n in sums.items()) / total
    far = abs(sum(r for r, mine in zip(twice, ours) if mine) - mean)
    return sum(n for s, n in sums.items() if abs(s - mean) >= far - 1e-6) / total


def t_statistic(x, y, paired):
    """|t|, pooled when not paired; infinite where only the last digits vary."""
    if paired:
        d = y - x
        top, below = d.mean(), d.std(ddof=1) / math.sqrt(len(d))
        largest = abs(d).max()
    else:
        n, m = len(x), len(y)
        top = y.mean() - x.mean()
        pooled = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / (n + m - 2)
        below = math.sqrt(pooled * (1 / n + 1 / m))
        largest = max(abs(x).max(), abs(y).max())
    if abs(top) <= 1e-12 * largest or largest == 0:
        return 0.0
    return abs(top) / below if below > 1e-6 * abs(top) else math.inf


def step_down(x, y, paired):
    """Westfall and Young's adjusted p-values over all signs, or all orders; a row for each comparison."""
    observed = numpy.array([t_statistic(a, b, paired) for a, b in zip(x, y)])
    order = numpy.argsort(-observed, kind="stable")
    n, m = x.shape[1], y.shape[1]
    if paired:
        resamples = [(numpy.where(s, y, x), numpy.where(s, x, y))
                     for s in itertools.product([False, True], repeat=n)]
    else:
        both = numpy.concatenate([x, y], axis=1)
        resamples = []
        for pick in itertools.combinations(range(n + m), m):
            rest = [i for i in range(n + m) if i not in pick]
            resamples.append((both[:, rest], both[:, list(pick)]))
    reached = numpy.zeros(len(x))
    for a, b in resamples:
        found = numpy.array([t_statistic(p, q, paired) for p, q in zip(a, b)])
        for place in range(len(x)):
            reached[place] += max(found[order[place:]]) >= observed[order[place]] * (1 - 1e-7)
    p = numpy.empty(len(x))
    p[order] = numpy.maximum.accumulate(reached / len(resamples))
    return p


def t_test(x, y, paired):
    """NaN where R refuses: nothing but the last digits varies."""
    if len(x) < 2 or len(y) < 2:
        return math.nan
    if paired:
        d = y - x
        error, largest = d.std(ddof=1) / math.sqrt(len(d)), abs(d.mean())
        p = stats.ttest_rel(y, x).pvalue
    else:
        error = math.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
        largest = max(abs(x.mean()), abs(y.mean()))
        p = stats.ttest_ind(y, x, equal_var=False).pvalue
    return p if error > 10 * numpy.finfo(float).eps * largest else math.nan


def resampled_rank(n, p):
    """The order statistic that the median of a resample of n (odd) does not pass with chance p."""
    for k in range(1, n + 1):
        if stats.binom.sf((n - 1) // 2, n, k / n) >= p:
            return k - 1
    return n - 1


def check_bootstrap(x, low, high):
    n = len(x)
    if n < 3 or n % 2 == 0:
        return
    x = numpy.sort(x)
    for ours, p in ((low, 0.025), (high, 0.975)):
        k = resampled_rank(n, p)
        if not x[max(k - 1, 0)] <= ours <= x[min(k + 1, n - 1)]:
            check("bootstrap", ours, x[k])
        else:
            check("bootstrap", 0.0, 0)


for i in range(0, len(lines), 4):
    head = lines[i]
    kind, paired, n, m, *rest = head.split()
    x, y = (numpy.array([float(v) for v in lines[i + k].split()]) for k in (1, 2))
    ours = [float(v) for v in lines[i + 3].split()]
    if kind == "joint":
        shape = (int(rest[0]), -1)
        theirs = step_down(x.reshape(shape), y.reshape(shape), paired == "1")
        for mine, p in zip(ours, theirs):
            joint += 1
            check("joint p", mine, p, 1e-9)
        continue
    exact = ours[6] == 1
    ranks, _ = ranks_of(x, y, paired == "1")
    tied = len(set(ranks)) < len(ranks) or (paired == "1" and len(ranks) < len(x))
    if exact and tied:
        p = brute_force(x, y, paired == "1")
        if p is not None:
            brute += 1
            check("p with ties", ours[0], p, 1e-8)
        elif len(ranks) <= 40:
            check("p with many ties", ours[0], count_all(x, y, paired == "1"), 1e-8)
    else:
        check("p", ours[0], rank_test(x, y, paired == "1", exact), 1e-8)
    # SciPy takes 1 degree of freedom where it computes none; t is the same in any unit.
    unit = {"huge": 1e150, "tiny": 1e-150}.get(kind, 1)
    check("p of t", ours[1], t_test(x / unit, y / unit, paired == "1"), 1e-7)
    check("mean", ours[7], x.mean(), 1e-12)
    for k, q in enumerate((.5, .9, .95, .99, .999)):
        check(f"quantile {q}", ours[9 + k], numpy.quantile(x, q), 1e-12)
    check_bootstrap(x, ours[14], ours[15])
print(f"{seen} figures compared with SciPy ({brute} p-values and {joint} joint ones with brute force), "
      f"{bad} differ")
sys.exit(bad > 0 or seen < 1000 or brute < 50 or joint < 50)
