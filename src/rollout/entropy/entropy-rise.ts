import { bootstrap, type BootstrapEstimate, sumsByPrompt } from "./bootstrap.js";
import { type ModelToken, modelTokens, type ProfiledTree, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";

/** ARPO's premise in numbers: how the signal after tool results differs from the rest of its trajectories. */
export interface EntropyRise {
  /** Mean over the first k tokens after results, less the mean over the trajectory's other model tokens. */
  againstRest: BootstrapEstimate;
  /** The same less the mean over the trajectory's first k model tokens: ARPO's baseline. */
  againstStart: BootstrapEstimate;
  signal: string;
  k: number;
}

/**
 * Does entropy rise after tool results? One difference per trajectory, then the mean over trajectories with
 * its 95% interval over prompts. The tokens after a result count in the trajectory that wrote them; what
 * they are compared with is that trajectory from the prompt on. A trajectory without either is left out.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyRise } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet([calculator()]);
 * const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { n: 4, tools });
 * const { againstRest } = entropyRise(trees, { k: 5 });
 * assert.ok(againstRest.low! <= againstRest.value! && againstRest.value! <= againstRest.high!);
 * assert.equal(entropyRise([]).againstRest.value, undefined);
 * ```
 */
export function entropyRise(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions = {},
): EntropyRise {
  const action = "measure a rise of entropy";
  const settings = completed(action, options);
  const { k, signal } = settings;
  const rows = treesOf(action, trees).flatMap((tree) => {
    const { prompt, tokens, trajectories } = modelTokens(tree, settings);
    return trajectories.map((path, trajectory) => ({
      prompt,
      ...ofRow(
        path.map((i) => tokens[i]!),
        trajectory,
        k,
      ),
    }));
  });
  const over = (pick: "rest" | "start", why: string): BootstrapEstimate => {
    const known = rows.flatMap(({ prompt, [pick]: value }) =>
      value === undefined ? [] : [{ prompt, value }],
    );
    const sums = sumsByPrompt(known, ({ value }) => [value, 1]);
    const found = bootstrap(`rise-${pick}`, sums, ([sum, n]) => sum! / n!, settings);
    return { ...found, count: known.length, ...(known.length === 0 ? { why } : {}) };
  };
  return {
    againstRest: over(
      "rest",
      `no trajectory has a known ${signal} within ${k} tokens of a result and beyond`,
    ),
    againstStart: over("start", `no trajectory has a known ${signal} after a result`),
    signal,
    k,
  };
}

function ofRow(path: readonly ModelToken[], trajectory: number, k: number) {
  const near = meanOf(path.filter((token) => token.trajectory === trajectory && token.after < k));
  const rest = meanOf(path.filter(({ after }) => !(after < k)));
  const start = meanOf(path.slice(0, k));
  return {
    rest: near === undefined || rest === undefined ? undefined : near - rest,
    start: near === undefined || start === undefined ? undefined : near - start,
  };
}

function meanOf(tokens: readonly ModelToken[]): number | undefined {
  const known = tokens.filter(({ value }) => !Number.isNaN(value));
  if (known.length === 0) return undefined;
  return known.reduce((sum, { value }) => sum + value, 0) / known.length;
}
