import { correctionWeights } from "../../../../learn/correction/weights.js";
import { rejectionMask } from "../../../../learn/correction/rejection.js";
import type { TokenLossOptions } from "../../../../learn/losses/loss-rules.js";
import type { LossRow } from "../../../../learn/losses/base/token-rule.js";
import { unmaskedRow } from "../../../../learn/losses/base/off-policy-mask.js";
import { seenTokens } from "../../../../learn/losses/token-update.js";
import { bytesOf } from "../../../page/unpack.js";
import type { TunerPayload, TunerRow, TunerSettings } from "../payload.js";

/** Why a token has no gradient. */
export const causes = ["above", "below", "dual", "loss", "weight", "mask", "rejected"] as const;
export type Cause = (typeof causes)[number];

/** What each is called. */
export const causeWords: Readonly<Record<Cause, string>> = {
  above: "above the upper bound",
  below: "below the lower bound",
  dual: "beyond the dual clip",
  loss: "left out by the loss",
  weight: "importance weight 0",
  mask: "off-policy sequence mask",
  rejected: "rejected by the test",
};

/** A batch as the page works with it. */
export interface TunerBatch {
  payload: TunerPayload;
  tokens: Int32Array;
  mask: Uint8Array;
  logprobs: Float32Array;
  oldLogprobs: Float32Array;
  sampledLogprobs: Float32Array;
  advantages: Float32Array;
  entropies: Float32Array;
  keptMass: Float32Array | undefined;
}

/** What becomes of the tokens under some settings. */
export interface Tuned {
  /** Of each token the ratio that counts, what the loss leaves of its advantage, and why that is nothing. */
  ratio: Float32Array;
  push: Float32Array;
  weight: Float32Array;
  cause: (Cause | undefined)[];
  /** 1 where a token is beyond a bound of the loss or chosen by it, also where that leaves its gradient. */
  outside: Uint8Array;
  /** Trained tokens, those with an advantage, and the sum of the advantages' sizes. */
  trained: number;
  withAdvantage: number;
  all: number;
  /** Of each cause the tokens that lose their gradient, and the advantage that goes with them. */
  lost: Record<Cause, { tokens: number; advantage: number }>;
  lostTokens: number;
  lostAdvantage: number;
  /** What is left of the advantage, times the weights, and the share that makes tokens more likely. */
  left: number;
}

/** Turns what was packed back into numbers. */
export function readTuner(payload: TunerPayload): TunerBatch {
  const floats = (data: string) => new Float32Array(bytesOf(data).buffer);
  return {
    payload,
    tokens: new Int32Array(bytesOf(payload.tokens).buffer),
    mask: bytesOf(payload.mask),
    logprobs: floats(payload.logprobs),
    oldLogprobs: floats(payload.oldLogprobs),
    sampledLogprobs: floats(payload.sampledLogprobs),
    advantages: floats(payload.advantages),
    entropies: floats(payload.entropies),
    keptMass: payload.keptMass === undefined ? undefined : floats(payload.keptMass),
  };
}

/** The settings as an update takes them. */
export function updateOptions(
  { own }: TunerPayload,
  { loss, low, high, c, offPolicyMask }: TunerSettings,
): TokenLossOptions {
  const known = { ...(loss === own.loss ? own : {}) };
  delete known.offPolicyMask;
  return {
    ...known,
    ...{ loss: loss as TokenLossOptions["loss"] & string, clipRatioLow: low, clipRatioHigh: high },
    clipRatioC: c,
    ...(offPolicyMask === null ? {} : { offPolicyMask }),
  };
}

const cutOf =
  ({ start, length }: TunerRow) =>
  <A extends Float32Array | Uint8Array>(values: A): A =>
    values.subarray(start, start + length) as A;

/** What each correction makes of the sequences: weights, and the mask that a test leaves. */
function corrected(
  { payload, mask, oldLogprobs, sampledLogprobs, keptMass }: TunerBatch,
  { weights, cap, drop, reject, rejectAt, whole }: TunerSettings,
) {
  const masks = payload.rows.map((row) => cutOf(row)(mask));
  const logRatio = payload.rows.map((row) => {
    const cut = cutOf(row);
    const [old, sampled] = [cut(oldLogprobs), cut(sampledLogprobs)];
    const kept = keptMass && cut(keptMass);
    // Over the whole vocabulary the ratio is too small by what the cut-off left.
    return Float64Array.from(old, (p, t) => p - sampled[t]! + (whole ? (kept?.[t] ?? 0) : 0));
  });
  const batch = { logRatio, mask: masks };
  return {
    masks,
    weights:
      weights === "none"
        ? undefined
        : correctionWeights(batch, {
            ...{ weights, threshold: cap, outside: drop ? "drop" : "cut" },
          }).weights,
    kept:
      reject === "none"
        ? undefined
        : rejectionMask(batch, { reject, rejectThreshold: rejectAt }).mask,
  };
}

/** What becomes of every token: by the very functions that an update computes with. */
export function tune(batch: TunerBatch, settings: TunerSettings): Tuned {
  const { payload, mask, logprobs, oldLogprobs, sampledLogprobs, advantages, entropies } = batch;
  const { masks, weights, kept } = corrected(batch, settings);
  const rows = payload.rows.map((row, r): LossRow => {
    const cut = cutOf(row);
    return {
      ...{ logprobs: cut(logprobs), oldLogprobs: cut(oldLogprobs), advantages: cut(advantages) },
      ...{ mask: kept?.[r] ?? masks[r]!, entropies: cut(entropies) },
      sampledLogprobs: cut(sampledLogprobs),
      ...(weights ? { weights: weights[r]! } : {}),
    };
  });
  const options = updateOptions(payload, settings);
  const seen = seenTokens(rows, options);
  const { offPolicyMask } = settings;
  const isMasked = rows.map(
    (row) => offPolicyMask !== null && unmaskedRow(row, offPolicyMask) !== row,
  );
  const { length } = mask;
  const made: Tuned = {
    ...{ ratio: new Float32Array(length).fill(NaN), push: new Float32Array(length).fill(NaN) },
    ...{ weight: new Float32Array(length).fill(NaN), cause: new Array(length) as Tuned["cause"] },
    outside: new Uint8Array(length),
    ...{ trained: 0, withAdvantage: 0, all: 0, lostTokens: 0, lostAdvantage: 0, left: 0 },
    lost: Object.fromEntries(
      causes.map((cause) => [cause, { tokens: 0, advantage: 0 }]),
    ) as Tuned["lost"],
  };
  payload.rows.forEach(({ start }, r) => {
    const row = rows[r]!;
    for (let t = 0; t < masks[r]!.length; t++) {
      if (!masks[r]![t]) continue;
      const at = start + t;
      const given = advantages[at]!;
      made.trained++;
      made.all += Math.abs(given);
      if (given !== 0) made.withAdvantage++;
      const isRejected = !row.mask[t];
      const { outcome } = seen(r, t);
      const { ratio, used, region, hold = 0 } = outcome;
      const weight = isRejected ? 0 : outcome.weight;
      made.ratio[at] = ratio;
      made.outside[at] = Number(region !== "inside");
      made.weight[at] = weight;
      made.push[at] = weight * used;
      made.left += Math.abs(weight * used);
      if (given === 0 || (!isRejected && (weight * used !== 0 || hold !== 0))) continue;
      const cause: Cause = isRejected
        ? "rejected"
        : isMasked[r] && given < 0
          ? "mask"
          : region === "above" || region === "below" || region === "dual"
            ? region
            : weights && weights[r]![t] === 0
              ? "weight"
              : "loss";
      made.cause[at] = cause;
      made.lost[cause].tokens++;
      made.lost[cause].advantage += Math.abs(given);
      made.lostTokens++;
      made.lostAdvantage += Math.abs(given);
    }
  });
  return made;
}
