import { existsSync, readFileSync } from "#platform/files";
import { packagePath } from "#platform/package-path";
import { lossCodeLines } from "./loss-code-lines.js";
import type { CodeLine } from "./payload.js";

const loss = "src/learn/loss";
const advantage = "src/learn/advantage";

/** The lines of the library that compute the symbols; a test holds them against the sources. */
export const codeLines = {
  ...lossCodeLines,
  ratio: {
    file: `${loss}/policy-loss.ts`,
    code: "const ratio: Tensor = logprobs.sub(oldLogprobs).exp();",
  },
  clip: { file: `${loss}/policy-loss.ts`, code: ": ratio.clipByValue(low, high);" },
  balancedClip: {
    file: `${loss}/policy-loss.ts`,
    code: "? tf.minimum(tf.maximum(ratio, low), tf.div<Tensor>(high, detached(ratio)).mul(ratio))",
  },
  unclipped: {
    file: `${loss}/policy-loss.ts`,
    code: "const unclipped: Tensor = ratio.mul(advantages).neg();",
  },
  clipped: {
    file: `${loss}/policy-loss.ts`,
    code: "const clipped: Tensor = inBounds.mul(advantages).neg();",
  },
  worse: {
    file: `${loss}/policy-loss.ts`,
    code: "const worse = evenMaximum(unclipped, clipped);",
  },
  dual: {
    file: `${loss}/policy-loss.ts`,
    code: "const dual = evenMinimum(advantages.mul(-c), worse);",
  },
  centred: {
    file: `${loss}/entropy-advantage.ts`,
    code: "const centred = fixed.sub(fixed.mul(mask).sum().div(tf.maximum(count, 1)));",
  },
  entropyAware: {
    file: `${loss}/entropy-advantage.ts`,
    code: "return advantages.mul(centred.div(width).mul(entropyWeight).add(1));",
  },
  rowRatio: {
    file: `${loss}/gspo.ts`,
    code: "const ratio: Tensor = tf.minimum(difference.mul(mask).sum(-1, true).div(counts), largestLogRatio);",
  },
  rowLoss: {
    file: `${loss}/gspo.ts`,
    code: 'loss: totalOf("gspo", evenMaximum(unclipped, clipped), input, options),',
  },
  "token-mean": {
    file: `${loss}/aggregate.ts`,
    code: "return values.mul(mask).sum().div(mask.sum().add(1e-8));",
  },
  "token-sum": {
    file: `${loss}/aggregate.ts`,
    code: 'if (mode === "token-sum") return losses.mul(mask).sum();',
  },
  "seq-mean-token-sum": { file: `${loss}/aggregate.ts`, code: "return rowSums().mean();" },
  "seq-mean-token-mean": {
    file: `${loss}/aggregate.ts`,
    code: 'return rowSums() .div(emptyRow === "zero" ? tf.maximum(counts, 1) : counts) .mean();',
  },
  "seq-mean-token-sum-norm": {
    file: `${loss}/aggregate.ts`,
    code: "return rowSums().sum().div(paddedLength);",
  },
  kl: {
    file: `${loss}/actor-loss.ts`,
    code: "out.loss = out.loss.add(out.kl.mul(klLossCoefficient));",
  },
  grpo: {
    file: `${advantage}/grpo.ts`,
    code: "advantage[i] = (score[i]! - centre) / (normalizeByDeviation ? width + epsilon : 1);",
  },
  rloo: {
    file: `${advantage}/rloo.ts`,
    code: "for (const i of rows) advantage[i] = (score[i]! * k) / (k - 1) - (centre * k) / (k - 1);",
  },
  spread: {
    file: `${advantage}/estimator.ts`,
    code: "for (let t = 0; t < out.length; t++) out[t] = perRow[i]! * row[t]!;",
  },
  hard: {
    file: `${advantage}/attribution.ts`,
    code: "for (const { row, at } of sharing) out[row]![at + t] = sum / sharing.length;",
  },
  gae: {
    file: `${advantage}/gae.ts`,
    code: "next = delta + gamma * lambda * next;",
  },
  reinforce_plus_plus: {
    file: `${advantage}/reinforce-plus-plus.ts`,
    code: "return { advantages: masked(whiten(returns, mask), mask), returns };",
  },
  reinforce_plus_plus_baseline: {
    file: `${advantage}/reinforce-plus-plus.ts`,
    code: "return outcome(masked(whiten(spread(centred, mask), mask), mask));",
  },
  opo: {
    file: `${advantage}/opo.ts`,
    code: "for (const i of rows) advantage[i] = score[i]! - baseline;",
  },
  gpg: {
    file: `${advantage}/gpg.ts`,
    code: "for (const i of rows) advantage[i] = scale * (score[i]! - centre);",
  },
  critic: {
    file: `${advantage}/gae.ts`,
    code: "const delta = row[t]! + gamma * (value[t + 1] ?? 0) - value[t]!;",
  },
  reinforce: {
    file: `${advantage}/gae.ts`,
    code: "returns: raw.map((row, i) => row.map((a, t) => a + values[i]![t]!)),",
  },
  keptWeight: {
    file: `${loss}/tokens/vanilla.ts`,
    code: "return { ...outcome, weight: clipBounds(options).high };",
  },
  insideWeight: {
    file: `${loss}/tokens/rule.ts`,
    code: 'return { ...outcome, region: "inside", weight: ratio };',
  },
} as const satisfies Record<string, CodeLine>;

const numbers = new Map<string, number | undefined>();

/** Where a piece of code begins in a file: its line, counted from 1; undefined where it is not there. */
export function lineOf({ file, code }: CodeLine): number | undefined {
  const key = `${file} ${code}`;
  if (!numbers.has(key)) {
    const path = packagePath(file);
    // An installed package has no sources.
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const words = code.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = new RegExp(words.join("\\s*")).exec(text);
    numbers.set(key, found ? text.slice(0, found.index).split("\n").length : undefined);
  }
  return numbers.get(key);
}

/** Lines of the library with their numbers. */
export function codeOf(...names: (keyof typeof codeLines)[]): CodeLine[] {
  return names.map((name) => ({ ...codeLines[name], line: lineOf(codeLines[name]) }));
}
