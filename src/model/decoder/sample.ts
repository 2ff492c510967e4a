import * as exact from "../../base/exact/index.js";

/** How one token is chosen from one row of logits. */
export interface SampleSettings {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
  uniform: number;
  /** Bit i allows id i. */
  allowed?: Uint32Array;
  /** What the mask left is told, as of top-k. */
  constrained?: boolean;
  /** Ids the repetition penalty applies to. */
  seen?: Iterable<number>;
  /** How many of the most likely alternatives to report. */
  top: number;
}

/** One chosen token and what the model thought of it. */
export interface SampledToken {
  token: number;
  /** NaN when the logits are not finite. */
  logprob: number;
  entropy: number;
  topIds: number[];
  topLogprobs: number[];
  /** The ids that top-k, top-p, min-p and a constraint left, rising; none where nothing was cut. */
  support: number[];
  /** ln of the probability of the support, of the whole distribution; 0 where nothing was cut. */
  supportLogprob: number;
}

/** The k ids with the largest values, in falling order, the lower id first among equals. */
function largest(values: Float64Array, k: number): number[] {
  const kept: number[] = [];
  if (k === 0) return kept;
  for (let id = 0; id < values.length; id++) {
    const value = values[id]!;
    if (kept.length === k && value <= values[kept[k - 1]!]!) continue;
    if (kept.length === k) kept.pop();
    let at = kept.length;
    while (at > 0 && values[kept[at - 1]!]! < value) at--;
    kept.splice(at, 0, id);
  }
  return kept;
}

/**
 * Chooses a token, in plain code: what the compiled sampler is tested against.
 *
 * What is reported (log-probability, entropy, alternatives) is of the model's whole distribution at the
 * temperature, so that a training forward pass can be compared with it. The repetition penalty, the
 * allowed ids and then top-k, top-p and min-p, in that order, only decide which token is chosen: the
 * first id at which the kept probabilities, added up in order of id, exceed the draw. What was kept is told
 * besides: a training forward pass can sum over the same.
 */
export function sample(logits: ArrayLike<number>, settings: SampleSettings): SampledToken {
  const { temperature, repetitionPenalty, allowed, seen, top } = settings;
  const scale = temperature > 0 ? temperature : 1;
  const size = logits.length;
  const scaled = Float64Array.from(logits, (z) => z / scale);
  let max = -Infinity;
  for (const y of scaled) max = y > max ? y : max;
  let sum = 0;
  let weighted = 0;
  for (const y of scaled) {
    const e = exact.exp(y - max);
    sum += e;
    weighted += e * (y - max);
  }
  const normaliser = max + exact.log(sum);
  const topIds = largest(scaled, Math.min(top, size));

  const candidates = Float64Array.from(scaled);
  if (repetitionPenalty !== 1 && seen) {
    for (const id of new Set(seen)) {
      const y = candidates[id]!;
      candidates[id] = y > 0 ? y / repetitionPenalty : y * repetitionPenalty;
    }
  }
  if (allowed) {
    for (let id = 0; id < size; id++) {
      if (((allowed[id >>> 5]! >>> (id & 31)) & 1) === 0) candidates[id] = -Infinity;
    }
  }
  const { token, support } = choose(candidates, settings);
  const kept = support.reduce((mass, id) => mass + exact.exp(scaled[id]! - max), 0);
  return {
    token,
    logprob: scaled[token]! - normaliser,
    entropy: exact.log(sum) - weighted / sum,
    topIds,
    topLogprobs: topIds.map((id) => scaled[id]! - normaliser),
    support,
    supportLogprob: support.length > 0 ? exact.log(kept / sum) : 0,
  };
}

function choose(
  candidates: Float64Array,
  { temperature, topK, topP, minP, uniform, constrained = false }: SampleSettings,
): { token: number; support: number[] } {
  const best = largest(candidates, 1)[0]!;
  if (temperature === 0) return { token: best, support: [] };
  const weights = candidates.map((y) => exact.exp(y - candidates[best]!));
  const cutsK = topK > 0 && topK < weights.length;
  if (cutsK) {
    // Those as likely as the k-th all stay.
    const least = weights[largest(weights, topK).at(-1)!]!;
    for (let id = 0; id < weights.length; id++) if (weights[id]! < least) weights[id] = 0;
  }
  if (topP < 1) {
    const order = [...weights.keys()].sort((a, b) => weights[b]! - weights[a]! || a - b);
    const limit = topP * weights.reduce((a, w) => a + w, 0);
    let reached = 0;
    for (const id of order) {
      if (reached >= limit && id !== best) weights[id] = 0;
      else reached += weights[id]!;
    }
  }
  if (minP > 0)
    for (let id = 0; id < weights.length; id++) if (weights[id]! < minP) weights[id] = 0;
  const target = uniform * weights.reduce((a, w) => a + w, 0);
  let reached = 0;
  let token = best;
  for (let id = 0; id < weights.length; id++) {
    if (weights[id] === 0) continue;
    token = id;
    reached += weights[id]!;
    if (reached > target) break;
  }
  const cut = cutsK || topP < 1 || minP > 0 || constrained;
  return { token, support: cut ? [...weights.keys()].filter((id) => weights[id]! > 0) : [] };
}
