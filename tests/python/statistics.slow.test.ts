// compareAt's statistics against scipy: needs a Python with scipy (ARPO_LAB_PYTHON, else python3) and is
// skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { equivalence, pairedStatistics, seedsFor } from "../../src/run/compare/paired.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const margin = 0.05;

interface Answer {
  p: number;
  low: number;
  high: number;
  bootLow: number;
  bootHigh: number;
  equivalent: number;
  power: [fewer: number, more: number];
}

test("intervals, p values, equivalence tests and numbers of seeds are scipy's", (t) => {
  if (spawnSync(python, ["-c", "import scipy"]).status !== 0) {
    t.skip(`${python} has no scipy; set ARPO_LAB_PYTHON to one that has`);
    return;
  }
  const random = Random.from(3);
  const cases = [3, 5, 8, 12, 40].map((n, i) => {
    const mean = [0, 0.03, -0.1, 0.5, 0.001][i]!;
    const differences = Array.from({ length: n }, () => mean + 0.08 * (random.uniform() - 0.5));
    const { deviation } = pairedStatistics(differences);
    return { differences, margin, delta: 0.02, seeds: seedsFor(deviation, 0.02, 0.8) };
  });
  const { status, stdout, stderr } = spawnSync(python, ["tests/python/check_statistics.py"], {
    encoding: "utf8",
    input: JSON.stringify(cases),
  });
  assert.equal(status, 0, stderr);
  const near = (got: number, wanted: number, by: number) =>
    assert.ok(Math.abs(got - wanted) <= by, `${got} is not ${wanted}`);
  (JSON.parse(stdout) as Answer[]).forEach((answer, i) => {
    const { differences } = cases[i]!;
    const found = pairedStatistics(differences);
    near(found.p, answer.p, 1e-9);
    near(found.low, answer.low, 1e-10);
    near(found.high, answer.high, 1e-10);
    near(equivalence(found, margin), answer.equivalent, 1e-9);
    // Both draw: so far do 10,000 draws reach.
    near(found.bootstrap.low, answer.bootLow, 0.1 * (found.high - found.low));
    near(found.bootstrap.high, answer.bootHigh, 0.1 * (found.high - found.low));
    const [fewer, more] = answer.power;
    assert.ok(fewer < 0.8 && more > 0.8, `${fewer} ${more}`);
  });
});
