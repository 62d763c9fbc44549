# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of tests/bench/stats, looked over with SciPy and NumPy: prints what differs."""
import math
import sys
import warnings

import numpy
from scipy import stats

warnings.simplefilter("ignore")
lines = open(sys.argv[1]).read().splitlines()
bad = seen = 0


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
    kind, paired, n, m = head.split()
    x, y = (numpy.array([float(v) for v in lines[i + k].split()]) for k in (1, 2))
    ours = [float(v) for v in lines[i + 3].split()]
    if kind == "holm":
        continue
    exact = ours[6] == 1
    check("p", ours[0], rank_test(x, y, paired == "1", exact), 1e-8)
    # SciPy takes 1 degree of freedom where it computes none; t is the same in any unit.
    unit = {"huge": 1e150, "tiny": 1e-150}.get(kind, 1)
    check("p of t", ours[1], t_test(x / unit, y / unit, paired == "1"), 1e-7)
    check("mean", ours[7], x.mean(), 1e-12)
    for k, q in enumerate((.5, .9, .95, .99, .999)):
        check(f"quantile {q}", ours[9 + k], numpy.quantile(x, q), 1e-12)
    check_bootstrap(x, ours[14], ours[15])
print(f"{seen} figures held to SciPy, {bad} differ")
sys.exit(bad > 0 or seen < 1000)
