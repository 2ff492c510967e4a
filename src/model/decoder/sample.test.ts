import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { sample, type SampleSettings } from "./sample.js";

const off = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, uniform: 0, top: 0 };

/** The distribution that the rules describe, worked out by walking over sorted lists. */
function expected(
  logits: Float32Array,
  settings: Omit<SampleSettings, "uniform" | "top">,
): number[] {
  const { temperature, topK, topP, minP, repetitionPenalty, allowed, seen } = settings;
  const repeated = new Set(seen);
  let kept = [...logits.entries()]
    .map(([id, z]) => {
      const penalised = z > 0 ? z / repetitionPenalty : z * repetitionPenalty;
      return { id, weight: Math.exp((repeated.has(id) ? penalised : z) / temperature) };
    })
    .filter(({ id }) => !allowed || (allowed[id >> 5]! >>> (id & 31)) & 1)
    .sort((a, b) => b.weight - a.weight || a.id - b.id);
  // Those as likely as the k-th stay.
  const least = kept[Math.min(topK, kept.length) - 1]?.weight ?? 0;
  if (topK > 0) kept = kept.filter(({ weight }) => weight >= least);
  const total = kept.reduce((sum, { weight }) => sum + weight, 0);
  let reached = 0;
  kept = kept.filter(({ weight }) => {
    const keep = reached < topP * total;
    reached += weight;
    return keep;
  });
  kept = kept.filter(({ weight }) => weight >= minP * kept[0]!.weight);
  const sum = kept.reduce((s, { weight }) => s + weight, 0);
  const probabilities = new Array<number>(logits.length).fill(0);
  for (const { id, weight } of kept) probabilities[id] = weight / sum;
  return probabilities;
}

test("sample() draws each token as often as the rules say", () => {
  const random = Random.from(5);
  for (let trial = 0; trial < 60; trial++) {
    const logits = Float32Array.from({ length: 7 }, () => random.normal() * 2);
    if (trial % 5 === 0) logits[3] = logits[4]!;
    const settings = {
      temperature: random.choose([0.5, 1, 1.7]),
      topK: random.choose([0, 1, 3, 6, 9]),
      topP: random.choose([1, 1, 0.2, 0.6, 0.95]),
      minP: random.choose([0, 0, 0.05, 0.4]),
      repetitionPenalty: random.choose([1, 1.3, 0.8]),
      allowed: random.choose([undefined, new Uint32Array([0b1011011])]),
      seen: random.choose([[], [1, 3, 3, 5]]),
    };
    const counts = new Array<number>(7).fill(0);
    const draws = 2000;
    for (let i = 0; i < draws; i++) {
      counts[sample(logits, { ...settings, top: 0, uniform: (i + 0.5) / draws }).token]!++;
    }
    for (const [id, probability] of expected(logits, settings).entries()) {
      assert.ok(Math.abs(counts[id]! / draws - probability) <= 1.5 / draws, `${trial}: ${id}`);
    }
  }
});

test("sample() reports the whole distribution at the temperature, whatever is cut off", () => {
  const logits = new Float32Array([1, 2, 3, -1]);
  const settings = { ...off, temperature: 0.5, topK: 1, top: 3, repetitionPenalty: 3, seen: [2] };
  const weights = [2, 4, 6, -2].map(Math.exp);
  const sum = weights.reduce((a, b) => a + b);
  const { token, logprob, entropy, topIds, topLogprobs } = sample(logits, settings);
  assert.equal(token, 1);
  assert.ok(Math.abs(logprob - Math.log(weights[1]! / sum)) < 1e-12);
  const direct = -weights.reduce((h, w) => h + (w / sum) * Math.log(w / sum), 0);
  assert.ok(Math.abs(entropy - direct) < 1e-12);
  assert.deepEqual(topIds, [2, 1, 0]);
  assert.ok(Math.abs(topLogprobs[0]! - Math.log(weights[2]! / sum)) < 1e-12);
});

test("sample() at temperature 0 takes the most likely allowed token, the lower id of equals", () => {
  const logits = new Float32Array([1, 5, 5, 0]);
  assert.equal(sample(logits, { ...off, temperature: 0, uniform: 0.99 }).token, 1);
  const allowed = new Uint32Array([0b1101]);
  const chosen = sample(logits, { ...off, temperature: 0, allowed });
  assert.equal(chosen.token, 2);
  assert.equal(chosen.entropy, sample(logits, off).entropy);
});

test("sample() gives NaN for logits that are not finite", () => {
  for (const bad of [NaN, Infinity]) {
    for (const temperature of [0, 1]) {
      const { logprob, entropy } = sample(new Float32Array([0, bad, 1]), { ...off, temperature });
      assert.ok(Number.isNaN(logprob) || Number.isNaN(entropy));
    }
  }
});
