# Reads cases from stdin and prints what scipy says of them.
import json
import sys

import numpy as np
from scipy import stats


def case(one):
    d = np.array(one["differences"])
    n, margin, delta = len(d), one["margin"], one["delta"]
    test = stats.ttest_1samp(d, 0)
    interval = test.confidence_interval(0.95)
    boot = stats.bootstrap((d,), np.mean, method="percentile", n_resamples=100_000, rng=1)
    above = stats.ttest_1samp(d, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(d, margin, alternative="less").pvalue

    def power(seeds):
        effect = delta / d.std(ddof=1) * np.sqrt(seeds)
        bound = stats.t.ppf(0.975, seeds - 1)
        return 1 - stats.nct.cdf(bound, seeds - 1, effect)

    return {
        "p": test.pvalue,
        "low": interval.low,
        "high": interval.high,
        "bootLow": boot.confidence_interval.low,
        "bootHigh": boot.confidence_interval.high,
        "equivalent": max(above, below),
        "power": [power(one["seeds"] + by) for by in (-2, 2)],
    }


print(json.dumps([case(one) for one in json.load(sys.stdin)]))
