import { sha256 } from "#platform/sha256";
import type { Policy } from "../../policy/policy.js";
import type { Reward } from "../../reward/reward-function.js";
import { type ScorableTask, score } from "../../reward/score-trees.js";
import type { ForkPlace } from "../../rollout/grow/fork.js";
import type { RolloutOptions } from "../../rollout/options.js";
import { rollout } from "../../rollout/rollout.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { rounded, type ValueRecord, type ValueState } from "./value-record.js";

/** What identifies a task in a file: its id, or its place and a hash of its prompt. */
export const labelOf = ({ id, prompt }: ScorableTask, index: number): string =>
  id ?? `#${index} ${sha256(JSON.stringify(prompt ?? null)).slice(0, 8)}`;

/** How one prompt is measured. */
export interface PromptMeasurement {
  /** Of the trajectories of the group, one of which is measured. */
  rollout: RolloutOptions;
  K: number;
  sure: number;
  reward?: Reward;
  current?: Policy;
}

/** A token that the policy drew in the measured trajectory. */
interface Drawn {
  node: number;
  /** Its place in its node, and in the response. */
  at: number;
  place: number;
}

/** Measures one prompt: trajectories as a rollout makes them, and forks of the first at every state. */
export async function measurePrompt(
  policy: Policy,
  task: ScorableTask,
  { rollout: options, K, sure, reward, current }: PromptMeasurement,
): Promise<ValueRecord> {
  const { signal } = options;
  const tree = await rollout(policy, task, options);
  const trajectory = tree.trajectories[0]!;
  const drawn = drawnTokens(tree, trajectory);
  const logprobs = drawn.map(({ node, at }) => tree.nodes[node]!.logprobs[at]!);
  const starts = stateStarts(logprobs, sure);
  const places = starts.map((i): ForkPlace => ({ node: drawn[i]!.node, at: drawn[i]!.at }));
  const forks = await tree.forks(places, {
    ...{ n: K, initialRollouts: K, beamSize: 1, keepTop: false },
    seed: forkSeed(options.seed ?? 0),
    ...(signal && { signal }),
  });
  const scored = await score([tree, ...forks], reward, signal && { signal });
  const scores = scored.trajectories.map((row) => row.score.score);
  const group = tree.trajectories.length;
  const states = forks.map((fork, s): ValueState => {
    const own = fork.nodes.filter((node) => node.trajectory >= 0);
    const count = (kind: string, size: (node: (typeof own)[number]) => number) =>
      own.reduce((sum, node) => sum + (node.kind === kind ? size(node) : 0), 0);
    return {
      at: starts[s]!,
      scores: scores.slice(group + s * K, group + (s + 1) * K).map(rounded),
      tokens: count("model", (node) => node.tokens.length),
      calls: count("tool", () => 1),
    };
  });
  const now = current && (await currentLogprobs(current, trajectory, drawn, options));
  const decode = (tokens: ArrayLike<number>) =>
    tree.tokenizer!.decode(tokens, { skipSpecial: true });
  return {
    index: tree.index,
    task: labelOf(task, tree.index),
    score: rounded(scores[0]!),
    texts: drawn.map(({ place }) => decode([trajectory.tokens[place]!])),
    entropies: drawn.map(({ node, at }) => rounded(tree.nodes[node]!.entropies[at]!)),
    logprobs: logprobs.map(rounded),
    ...(now ? { current: now } : {}),
    blocks: blocksOf(trajectory, drawn, decode),
    segments: segmentsOf(tree, drawn),
    states,
    group: tree.trajectories.slice(1).map((other, i) => ({
      shared: sharedTokens(trajectory, other, drawn),
      score: rounded(scores[i + 1]!),
    })),
  };
}

/** Forks draw from streams of their own, whatever is drawn with the seed itself. */
const forkSeed = (seed: number): number => seed + 1_000_003;

function drawnTokens(tree: RolloutTree, { nodes, tokens }: Trajectory): Drawn[] {
  const drawn: Drawn[] = [];
  let place = 0;
  for (const id of nodes) {
    const node = tree.nodes[id]!;
    for (let at = 0; at < node.tokens.length && place < tokens.length; at++, place++) {
      if (node.kind === "model") drawn.push({ node: id, at, place });
    }
  }
  return drawn;
}

/** The first tokens of the states: while all tokens since its first were nearly sure, a state continues. */
export function stateStarts(logprobs: readonly number[], sure: number): number[] {
  const starts: number[] = [];
  let slack = Infinity;
  logprobs.forEach((logprob, i) => {
    if (slack > -Math.log(sure)) {
      starts.push(i);
      slack = 0;
    }
    slack -= logprob;
  });
  return starts;
}

function segmentsOf(tree: RolloutTree, drawn: readonly Drawn[]): ValueRecord["segments"] {
  return drawn.flatMap(({ node, at }, start) =>
    at === 0 ? [{ start, entropy: rounded(tree.nodes[node]!.entropy ?? 0) }] : [],
  );
}

/** Tags may be cut anywhere: so much of what stands before a token is read again with it. */
const tail = 64;

/** The block that each drawn token stands in: that of the last tag the model wrote since a result, if it opens one. */
function blocksOf(
  { tokens, written }: Trajectory,
  drawn: readonly Drawn[],
  decode: (tokens: ArrayLike<number>) => string,
): string[] {
  const places = new Set(drawn.map(({ place }) => place));
  const blocks: string[] = [];
  let text = "";
  let block = "";
  for (let place = 0; place < tokens.length; place++) {
    if (places.has(place)) blocks.push(block);
    if (written[place] === 0) {
      text = "";
      block = "";
      continue;
    }
    text = text.slice(-tail) + decode([tokens[place]!]);
    const last = [...text.matchAll(/<(\/?)([A-Za-z_][\w.-]*)>/g)].at(-1);
    if (last) block = last[1] ? "" : last[2]!;
  }
  return blocks;
}

/** Drawn tokens of a trajectory that another one of its prompt begins with, results included. */
function sharedTokens(own: Trajectory, other: Trajectory, drawn: readonly Drawn[]): number {
  let same = 0;
  while (same < own.tokens.length && own.tokens[same] === other.tokens[same]) same++;
  const differs = drawn.findIndex(({ place }) => place >= same);
  return differs < 0 ? drawn.length : differs;
}

async function currentLogprobs(
  current: Policy,
  { prompt, tokens }: Trajectory,
  drawn: readonly Drawn[],
  { sampling }: RolloutOptions,
): Promise<number[]> {
  if (!current.logProbs) {
    throw new TypeError(
      `Cannot measure branch values: current must be able to say log-probabilities, got policy ${current.name} that only writes`,
    );
  }
  const { temperature = 1 } = sampling ?? {};
  const [found] = await current.logProbs([{ prompt, tokens }], { temperature });
  return drawn.map(({ place }) => rounded(found!.logprobs[place]!));
}
