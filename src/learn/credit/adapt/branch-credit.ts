import * as exact from "../../../exact/index.js";
import { appo, type CreditBranch } from "../appo.js";
import type { CreditSpan } from "../credit.js";
import { fr3e } from "../fr3e.js";
import type { CreditOptions } from "../options.js";
import { type CutPoint, spoChain } from "../spo.js";
import {
  type CreditBatch,
  type CreditTrajectory,
  prefixNames,
  prompts,
  trajectoryFinder,
} from "./credit-trajectories.js";
import { ruleOf } from "../../../rollout/settings.js";

/** The initial trajectory that a branch goes back to, and the tokens both have in common. */
function leaving(trajectories: readonly CreditTrajectory[]) {
  const find = trajectoryFinder(trajectories);
  return (trajectory: number): { from: number; shared: number } => {
    let at = trajectory;
    let shared = Infinity;
    while (!trajectories[at]!.initial) {
      shared = Math.min(shared, trajectories[at]!.shared);
      const above = find(trajectories[at]!.tree, trajectories[at]!.parent);
      if (above < 0) break;
      at = above;
    }
    return { from: at, shared };
  };
}

/** The token that a trajectory left at, where the rule names one, and its score where the rule is APPO's. */
function branchPoint({ tree, scored }: CreditTrajectory): { token?: number; score: number } {
  const { chosen } = tree.trajectories[scored.trajectory.id]!;
  const isAppo = ruleOf(tree.config).startsWith("appo");
  return { token: chosen?.token, score: isAppo ? (chosen?.score ?? 0) : 0 };
}

export function appoSpans(batch: CreditBatch, options: CreditOptions["appo"]): CreditSpan[][] {
  const { trajectories, rewards, mask, groups } = batch;
  const left = leaving(trajectories);
  const branches = trajectories.flatMap((one, trajectory): CreditBranch[] => {
    if (one.initial) return [];
    const { from, shared } = left(trajectory);
    const { token = shared - 1, score } = branchPoint(one);
    // A result that follows the token is shared too.
    return [{ from, trajectory, token: Math.min(token, shared - 1), score }];
  });
  const initial = trajectories.map((trajectory) => trajectory.initial);
  const { spans } = appo({ rewards, mask, groups, initial, branches }, options);
  return spans.map((list) => [...list]);
}

/** The probability of every token when it was drawn; of what nobody drew it is 1. */
function drawnWith({ tree, scored }: CreditTrajectory): Float64Array {
  const { logprobs, nodes, id: trajectory } = scored.trajectory;
  const out = new Float64Array(logprobs.length).fill(1);
  let start = 0;
  for (const id of nodes) {
    const { kind, tokens } = tree.nodes[id]!;
    const end = Math.min(out.length, start + tokens.length);
    for (let t = start; t < end && kind === "model"; t++) {
      if (Number.isNaN(logprobs[t])) {
        throw new TypeError(
          `Cannot use spo_chain: the log-probability of every drawn token must be known, got none at token ${t} of trajectory ${trajectory} of ${scored.group}`,
        );
      }
      out[t] = exact.exp(logprobs[t]!);
    }
    start = end;
  }
  return out;
}

export function spoChainSpans(
  batch: CreditBatch,
  options: CreditOptions["spoChain"],
): CreditSpan[][] {
  const { trajectories, mask } = batch;
  const cuts = trajectories.map(() => new Map<number, number[]>());
  const add = (trajectory: number, token: number, value: number) => {
    const known = cuts[trajectory]!.get(token) ?? [];
    cuts[trajectory]!.set(token, [...known, value]);
  };
  const left = leaving(trajectories);
  let branches = 0;
  trajectories.forEach((one, trajectory) => {
    if (one.initial) return;
    branches++;
    const { from, shared } = left(trajectory);
    if (shared > 0) add(from, shared - 1, one.reward);
  });
  if (branches === 0) {
    throw new TypeError(
      "Cannot use spo_chain: the values along a trajectory must be estimated by trajectories that leave it, got no branch",
    );
  }
  // Other trajectories that start at the prompt say what it is worth.
  for (const own of prompts(trajectories)) {
    const fresh = own.filter((trajectory) => trajectories[trajectory]!.initial);
    for (const trajectory of fresh) {
      for (const other of fresh)
        if (other !== trajectory) add(trajectory, -1, trajectories[other]!.reward);
    }
  }
  const probabilities = trajectories.map(drawnWith);
  const points = cuts.map((found, trajectory): CutPoint[] =>
    trajectories[trajectory]!.initial
      ? [...found]
          .sort(([a], [b]) => a - b)
          .map(([token, values]) => ({
            token,
            value: values.reduce((sum, v) => sum + v, 0) / values.length,
          }))
      : [],
  );
  const outcomes = trajectories.map(({ reward }) => reward);
  return spoChain({ mask, probabilities, outcomes, cuts: points }, options).spans.map((list) => [
    ...list,
  ]);
}

const baseOf = (found: number, trajectory: number) => (found >= 0 ? found : -2 - trajectory);

/** What a trajectory was rolled out from: the prompt, or what it has in common with the trajectory it left. */
interface State {
  name: string;
  /** Tokens before it. */
  at: number;
  trajectories: number[];
  /** The trajectory it lies on, below -1 where that is not scored; -1 for the prompt. */
  base: number;
}

function statesOf(trajectories: readonly CreditTrajectory[], own: readonly number[]): State[] {
  const name = prefixNames(trajectories);
  const find = trajectoryFinder(trajectories);
  const states = new Map<string, State>();
  for (const trajectory of own) {
    const { initial, shared, tree, parent, scored } = trajectories[trajectory]!;
    // An anchor at the first token is a state besides the prompt.
    const { token } = tree.trajectories[scored.trajectory.id]!.chosen ?? {};
    const key = initial
      ? "prompt"
      : `${name(trajectory, shared)}${token === undefined ? "" : " anchor"}`;
    const state = states.get(key) ?? {
      ...{ name: key, at: initial ? 0 : shared, trajectories: [] },
      // One that was left and is not trained on has a number of its own.
      base: initial ? -1 : baseOf(find(tree, parent), parent),
    };
    state.trajectories.push(trajectory);
    states.set(key, state);
  }
  return [...states.values()];
}

export function fr3eSpans(
  { trajectories, rewards, mask }: CreditBatch,
  { dropSettled = true, ...options }: NonNullable<CreditOptions["fr3e"]> = {},
): CreditSpan[][] {
  const out: CreditSpan[][] = trajectories.map(() => []);
  for (const own of prompts(trajectories)) {
    const states = statesOf(trajectories, own);
    const [first] = states;
    const odd = states.find((state) => state.trajectories.length !== first!.trajectories.length);
    if (odd) {
      const where = `after token ${odd.at} of trajectory ${trajectories[odd.base]?.scored.trajectory.id ?? 0}`;
      throw new RangeError(
        `Cannot use fr3e: every state must have as many trajectories as the others, got ${first!.trajectories.length} at the prompt and ${odd.trajectories.length} ${where} of ${trajectories[own[0]!]!.group}`,
      );
    }
    const settled = (state: State) =>
      dropSettled &&
      state.trajectories.every(
        (trajectory) =>
          trajectories[trajectory]!.reward === trajectories[state.trajectories[0]!]!.reward,
      );
    const prompt = states.filter(({ base }) => base === -1);
    const bases = [...new Set(states.flatMap(({ base }) => (base === -1 ? [] : [base])))];
    // The states along each trajectory that was left, its own first; the prompt's trajectories count with
    // every one.
    for (const base of bases.length > 0 ? bases : [-1]) {
      const along = [
        ...(base === -1 ? prompt : states.filter((state) => state.trajectories.includes(base))),
        ...states.filter((state) => base !== -1 && state.base === base).sort((a, b) => a.at - b.at),
      ].filter((state) => !settled(state));
      const listed = along.flatMap((state) =>
        state.trajectories.map((trajectory) => ({ trajectory, name: state.name })),
      );
      const { spans } = fr3e(
        {
          rewards: listed.map(({ trajectory }) => rewards[trajectory]!),
          mask: listed.map(({ trajectory }) => mask[trajectory]!),
          states: listed.map(({ name }) => name),
          bases: listed.map(() => base),
        },
        options,
      );
      listed.forEach(({ trajectory }, i) => {
        if (out[trajectory]!.length === 0) out[trajectory] = [...spans[i]!];
      });
    }
  }
  return out;
}
