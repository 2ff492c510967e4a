import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { cos, sin } from "./sin-cos.js";
import { exp } from "./exp.js";
import { log } from "./log.js";

/** Numbers that look random and are the same every time. */
function* drawn(seed: number): Generator<number, never> {
  for (let x = seed; ;) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x / 2 ** 32;
  }
}

const ranges = {
  exp: [exp, (u: number) => (u - 0.5) * 1500],
  "exp of log-probabilities": [exp, (u: number) => -30 * u],
  log: [log, (u: number) => u * 50],
  "log of small numbers": [log, (u: number) => u * 5e-308],
  sin: [sin, (u: number) => (u - 0.5) * 1e5],
  cos: [cos, (u: number) => Math.floor(u * 131072)],
} as const;

/** Node 20's own answers to the same questions, as hashes: checked when this was written. */
const golden: Record<keyof typeof ranges, string> = {
  exp: "e8b41d65fa45fcb9",
  "exp of log-probabilities": "11b4bb9aa63cbf21",
  log: "f8372e66dbb862c9",
  "log of small numbers": "115f74b6f6768990",
  sin: "059b8cba4bd7d3aa",
  cos: "aed66feb7cb4f790",
};

const hashOf = (call: (x: number) => number, range: (u: number) => number) => {
  const draws = drawn(1);
  const values = Float64Array.from({ length: 50_000 }, () => call(range(draws.next().value)));
  return createHash("sha256").update(values).digest("hex").slice(0, 16);
};

test("exp, log, sin and cos give the bits that Node 20 gives, in any engine", () => {
  for (const [name, [call, range]] of Object.entries(ranges))
    assert.equal(hashOf(call, range), golden[name as keyof typeof ranges], name);
});

test("they are off by less than two units in the last place of what this engine gives", () => {
  const draws = drawn(2);
  for (const [name, own] of [
    ["exp", exp],
    ["log", log],
    ["sin", sin],
    ["cos", cos],
  ] as const) {
    for (let i = 0; i < 20_000; i++) {
      const x = name === "log" ? draws.next().value * 100 : (draws.next().value - 0.5) * 100;
      const [got, wanted] = [own(x), Math[name](x)];
      assert.ok(Math.abs(got - wanted) <= 2 * 2 ** -52 * Math.abs(wanted), `${name}(${x}): ${got}`);
    }
  }
});

test("what has no ordinary answer has the usual one", () => {
  for (const x of [0, -0, 1, -1, NaN, Infinity, -Infinity, 709.79, 710, -745.2, -740, 1e-10]) {
    for (const [name, own] of [
      ["exp", exp],
      ["log", log],
      ["sin", sin],
      ["cos", cos],
    ] as const) {
      const [got, wanted] = [own(x), Math[name](x)];
      assert.ok(
        Object.is(got, wanted) || Math.abs(got / wanted - 1) < 1e-15,
        `${name}(${x}): ${got}`,
      );
    }
  }
});
