import { checkArguments } from "../../../common/options/check-arguments.js";

/** The branching rules, by the source each was taken from. */
export const branchRules = [
  "arpo-code",
  "arpo-paper",
  "seed-docs",
  "aepo-code",
  "aepo-paper",
] as const;

/** @see {@link decideBranch} for what each rule computes. */
export type BranchRule = (typeof branchRules)[number];

/** What a branching rule is set to. */
export interface BranchSettings {
  rule: BranchRule;
  /**
   * `branch_probability`: p. The base probability in `arpo-code` and `seed-docs`; the bar in
   * `aepo-code`, whose base probability is therefore 1 - p; alpha in the papers' rules.
   */
  probability: number;
  /** `entropy_weight`: w, the papers' beta and gamma. */
  weight: number;
  /** The papers' tau. */
  threshold: number;
  /** What one consecutive branching takes from the score in the AEPO rules. */
  penaltySlope: number;
}

/** What one attempt at a branch depends on. */
export interface BranchSituation {
  /** The uniform draw in [0, 1); the papers' rules do not look at it. */
  u: number;
  entropy: number;
  baseline: number;
  /** Branchings in a row so far; only the AEPO rules look at it. */
  consecutive: number;
}

/** What a rule decided, and everything it decided by. */
export interface BranchVerdict {
  branch: boolean;
  /** Entropy now minus baseline. */
  delta: number;
  /** What is compared with `bar`: the clamped score of the codes' rules, P of the papers'. */
  score: number;
  bar: number;
  /** Chance that a fresh draw branches here: 0 or 1 for the papers' rules. */
  probability: number;
  /** The comparison in words and numbers. */
  reason: string;
}

/**
 * Decides one attempt at a branch.
 *
 * - `arpo-code`: s = clamp(u - w delta, 0, 1); branch unless s > p.
 * - `arpo-paper`: P = p + w delta; branch iff P > tau.
 * - `seed-docs`: branch iff H > w H_base and u < p.
 * - `aepo-code`: s = clamp((u + w delta) max(0, 1 - slope c), 0, 1); branch unless s < p.
 * - `aepo-paper`: P = (p + w delta)(1 - slope c); branch iff P > tau.
 *
 * @param settings the rule with its numbers
 * @param situation the entropies and counts at the branch point
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decideBranch } from "arpo-lab/rollout";
 *
 * const settings = { probability: 0.5, weight: 0.2, threshold: 0.5, penaltySlope: 0.05 };
 * const situation = { u: 0.6, entropy: 1, baseline: 0.4, consecutive: 0 };
 * const { branch, reason } = decideBranch({ rule: "arpo-code", ...settings }, situation);
 * assert.equal(branch, true);
 * assert.equal(reason, "u - w·ΔH = 0.6 - 0.2·0.6 = 0.48 is not above p = 0.5");
 * ```
 */
export function decideBranch(settings: BranchSettings, situation: BranchSituation): BranchVerdict {
  checkArguments(
    "decide a branch",
    { settings, situation },
    {
      settings: {
        rule: "text",
        probability: "number",
        weight: "number",
        threshold: "number",
        penaltySlope: "number",
      },
      situation: { u: "number", entropy: "number", baseline: "number", consecutive: "number" },
    },
  );
  // Nothing outside is used: the explorer's page runs this very function.
  const clamp = (x: number) => Math.min(1, Math.max(0, x));
  const show = (x: number) => String(Number(x.toPrecision(4)));
  const { rule, probability: p, weight: w, threshold: tau, penaltySlope: slope } = settings;
  const { u, entropy, baseline, consecutive } = situation;
  const delta = entropy - baseline;
  const change = `${show(w)}·${show(delta)}`;
  switch (rule) {
    case "arpo-code": {
      const score = clamp(u - w * delta);
      const branch = !(score > p);
      const chance = p >= 1 ? 1 : p < 0 ? 0 : clamp(p + w * delta);
      const reason = `u - w·ΔH = ${show(u)} - ${change} = ${show(score)} is ${branch ? "not " : ""}above p = ${show(p)}`;
      return { branch, delta, score, bar: p, probability: chance, reason };
    }
    case "aepo-code": {
      const factor = Math.max(0, 1 - slope * consecutive);
      const score = clamp((u + w * delta) * factor);
      const branch = !(score < p);
      const need = factor > 0 ? p / factor - w * delta : Infinity;
      const chance = p <= 0 ? 1 : p > 1 ? 0 : clamp(1 - need);
      const reason = `(u + w·ΔH)·penalty = (${show(u)} + ${change})·${show(factor)} = ${show(score)} is ${branch ? "not " : ""}below p = ${show(p)}`;
      return { branch, delta, score, bar: p, probability: chance, reason };
    }
    case "arpo-paper":
    case "aepo-paper": {
      const factor = rule === "aepo-paper" ? 1 - slope * consecutive : 1;
      const score = (p + w * delta) * factor;
      const branch = score > tau;
      const penalty = rule === "aepo-paper" ? `·${show(factor)}` : "";
      const reason = `P = (${show(p)} + ${change})${penalty} = ${show(score)} is ${branch ? "" : "not "}above τ = ${show(tau)}`;
      return { branch, delta, score, bar: tau, probability: branch ? 1 : 0, reason };
    }
    case "seed-docs": {
      const high = entropy > w * baseline;
      const branch = high && u < p;
      const reason = `H = ${show(entropy)} is ${high ? "" : "not "}above w·H_base = ${show(w)}·${show(baseline)}, u = ${show(u)} is ${u < p ? "" : "not "}below p = ${show(p)}`;
      return { branch, delta, score: u, bar: p, probability: high ? clamp(p) : 0, reason };
    }
    default:
      throw new RangeError(
        `Cannot decide a branch: settings.rule must be one of ${branchRules.join(", ")}, got ${String(rule)}`,
      );
  }
}
