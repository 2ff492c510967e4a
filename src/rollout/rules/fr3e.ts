import { count } from "../../../common/options/setting.js";
import { choiceOf, type Choice } from "../expand/choice.js";
import { beforeTokens } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";
import { short, signal, signalWords } from "./settings.js";

/**
 * FR3E's anchors in a rollout: the `most` tokens of greatest signal (published: of smallest
 * log-probability), in order; one if the rollout has no more tokens than that.
 */
export function fr3eAnchors(signals: ArrayLike<number>, most: number): number[] {
  const ranked = Array.from({ length: signals.length }, (_, i) => i).sort(
    (a, b) => signals[b]! - signals[a]!,
  );
  return ranked.slice(0, anchorCount(signals.length, most)).sort((a, b) => a - b);
}

/** Anchors of a rollout of so many tokens: one if there are no more than may be. */
const anchorCount = (tokens: number, most: number): number => (tokens > most ? most : 1);

/** A right and a wrong rollout are explored from the prompt and from their most uncertain tokens. */
export const fr3e = defineRule({
  name: "fr3e",
  title: "FR3E",
  words: "from the prompt and before a trajectory's anchors",
  // `points` is `srpo_max_block_num`.
  settings: {
    points: count(4, "anchors per rollout"),
    rows: count(16, "trajectories from every place"),
    right: count(1, "right rollouts explored", 0),
    wrong: count(1, "wrong rollouts explored", 0),
    signal: signal("surprisal"),
  },
  fault: ({ right, wrong }) =>
    right + wrong === 0
      ? "expand.right and expand.wrong must not both be 0, got 0 and 0"
      : undefined,
  trajectories: ({ points, rows, right, wrong }) => ({ n: (right + wrong) * (points + 1) * rows }),
  usual: { initialRollouts: 4 },
  preset: {},
  judge: "explores a right and a wrong rollout",
  wanted: ({ points }) => points,
  plan: (chain, { signal: by }, reading) =>
    chain.kind === "initial" ? beforeTokens(chain, by, reading) : {},
  bases(right, settings) {
    const first = (wanted: boolean, most: number) =>
      right.flatMap((is, id) => (Boolean(is) === wanted ? [id] : [])).slice(0, most);
    return [...first(true, settings.right), ...first(false, settings.wrong)].sort((a, b) => a - b);
  },
  // State by state: the prompt, then each anchor.
  choose: ({ points, rows }, chains, { bases }) =>
    chains
      .filter(({ kind, id }) => kind === "initial" && (bases?.includes(id) ?? true))
      .flatMap(({ id, start, places, count: tokens }) => {
        const anchors = places
          .slice(0, anchorCount(tokens, points))
          .map((place) => choiceOf(id, place))
          .sort((a, b) => a.at - b.at);
        const states: Choice[] = [{ trajectory: id, at: start, score: 0 }, ...anchors];
        return states.flatMap((state) => Array.from({ length: rows }, () => state));
      }),
  keep: (_, chains) => chains.flatMap(({ kind, id }) => (kind === "initial" ? [] : [id])),
  fills: false,
  why: ({ rows, signal: by }, { score, token }) =>
    token === undefined
      ? `the prompt: ${rows} trajectories`
      : `an anchor: ${signalWords[by]} ${short(score)}; ${rows} trajectories from before it`,
});
