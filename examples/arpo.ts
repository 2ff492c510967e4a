// ARPO in one file: start reading here.
//
//   npx arpo-lab run examples/arpo.ts            six steps of ARPO on the tiny model, half a minute
//   npx arpo-lab run examples/arpo.ts aepo 10    ten steps of AEPO
//
// A training step has four parts, one function each:
//   1. growTree      A prompt becomes a tree of n trajectories. The policy writes until it calls a
//                    tool, reads the result and goes on. Where the result raised its entropy, ARPO
//                    branches: it samples another continuation from there.
//   2. rewardOf      Each trajectory is scored by its final answer.
//   3. advantagesOf  A trajectory is compared with the others of its prompt (GRPO).
//   4. lossOf        A clipped policy-gradient loss (PPO) on what the model wrote, not on results.
// AEPO changes the branching rule, the clipping and the advantage: look for `use`. Imported are only
// the model with its KV cache, tools and automatic differentiation. A test holds growTree to the
// package's `rollout`: the same seeds give the same trees.
import { pathToFileURL } from "node:url";
import { deepResearch, Policy, Random, ready, tasks, taskTools, tf } from "arpo-lab";
import type { Task, ToolSet } from "arpo-lab";
import { AdamW, detached, gradientsOf } from "arpo-lab/model";
import type { ModelPolicy, Segment, Session } from "arpo-lab/policy";

/** The published settings, in a size for a laptop. */
export const settings = {
  n: 8, // trajectories per prompt
  initialRollouts: 4, // how many of them start at the prompt; branches fill the rest
  branchProbability: 0.5,
  entropyWeight: 0.2,
  callLimit: 3, // tool calls per trajectory
  responseLength: 128, // tokens per trajectory, tool results included
  clipRatio: 0.2,
  learningRate: 3e-4,
  prompts: 8, // per training step
  miniBatch: 2, // prompts per optimizer step: from the second on, the policy is not the sampler
};

/** AEPO's switches. (Its dynamic budget is off in the published runs.) */
export const arpo = { penalty: false, balancedClipping: false, balancedAdvantage: false };
export const aepo = { penalty: true, balancedClipping: true, balancedAdvantage: true };

/** A token of a response; the log-probability and entropy are those when it was sampled. */
interface Token {
  id: number;
  written: boolean; // by the model, not by a tool
  logprob: number;
  entropy: number;
}

/** A path of the tree, from the prompt to an answer. */
export interface Trajectory {
  parent: number; // the trajectory it branched from; -1: it started at the prompt
  prompt: number[];
  response: Token[];
  handle: ReturnType<Session["open"]>; // where it is in the KV cache
  random: Random;
  calls: number;
  baseline?: number; // the entropy of its first segment
  entropy: number; // the entropy of its last segment
  done: boolean;
}

/**
 * The entropy at the start of a segment, as the published code has it: the sum of -p ln p over the
 * most likely tokens and the sampled one at the first 20 positions, over ln of the vocabulary size.
 */
function entropyOf({ tokens, logprobs, top }: Segment, vocabSize: number): number {
  let sum = 0;
  for (let t = 0; t < Math.min(20, tokens.length); t++) {
    const [from, to] = [t * top.width, (t + 1) * top.width];
    const known = [...top.logprobs.subarray(from, to)];
    if (!top.ids.subarray(from, to).includes(tokens[t]!)) known.push(logprobs[t]!);
    for (const l of known) if (l > -Infinity) sum -= Math.exp(l) * l;
  }
  return sum / Math.log(vocabSize);
}

/**
 * Whether to branch, given a uniform draw u. The more the entropy rose since the trajectory's first
 * segment, the more likely. AEPO's penalty makes it less likely with every round that added
 * trajectories, so that one uncertain path does not take the whole budget.
 */
function branches(u: number, rise: number, rounds: number, use: typeof arpo): boolean {
  const { branchProbability: p, entropyWeight: w } = settings;
  const clamp = (x: number) => Math.min(1, Math.max(0, x));
  if (use.penalty) return clamp((u + w * rise) * Math.max(0, 1 - 0.05 * rounds)) >= p;
  return clamp(u - w * rise) <= p;
}

/** Part 1. Each random draw has a stream named after its use, so that none moves another. */
export async function growTree(
  policy: ModelPolicy,
  tools: ToolSet,
  task: Task,
  random: Random,
  use = arpo,
): Promise<{ trajectories: Trajectory[]; decisions: [id: number, round: number, yes: boolean][] }> {
  const { n, initialRollouts, responseLength, callLimit } = settings;
  const { tokenizer } = policy;
  const session = policy.session();
  const prompt = tokenizer.encode(tokenizer.chat(task.prompt, { addGenerationPrompt: true }));
  const root = session.open(prompt); // read once, shared by all trajectories
  const trajectories: Trajectory[] = [];
  const decisions: [number, number, boolean][] = [];

  /** A new trajectory: at the prompt or, as a branch, with all that its parent has so far. */
  const add = (parent?: Trajectory): Trajectory => {
    const trajectory: Trajectory = {
      parent: parent ? trajectories.indexOf(parent) : -1,
      prompt,
      response: [...(parent?.response ?? [])],
      handle: session.fork(parent?.handle ?? root), // no copy of the cache
      random: random.split("sample").split(trajectories.length),
      calls: parent?.calls ?? 0,
      entropy: 0,
      done: false,
    };
    trajectories.push(trajectory);
    return trajectory;
  };

  /** One round of a trajectory: write until a call or the end, then append the tool's result. */
  const advance = async (path: Trajectory): Promise<void> => {
    const maxTokens = responseLength - path.response.length;
    const stop = tools.tags.map((tag) => `</${tag}>`);
    const segment = await session.generate(path.handle, { maxTokens, stop, random: path.random });
    path.entropy = entropyOf(segment, tokenizer.vocabSize);
    path.baseline ??= path.entropy;
    const { logprobs, entropies } = segment;
    segment.tokens.forEach((id, t) => {
      path.response.push({ id, written: true, logprob: logprobs[t]!, entropy: entropies[t]! });
    });
    path.done = true; // unless a tool answers
    if (segment.stop === undefined || path.calls === callLimit) return;
    path.calls++;
    const tag = segment.stop.slice(2, -1);
    const text = tokenizer.decode(path.response.map(({ id }) => id));
    const opening = text.lastIndexOf(`<${tag}>`);
    const input = text.slice(opening + tag.length + 2, text.lastIndexOf(segment.stop)).trim();
    if (opening < 0 || input === "") return;
    const { text: answer } = await tools.call(tag, input);
    const result = tokenizer.encode(` <result>\n${answer}\n</result>`);
    if (path.handle.tokens.length + result.length > policy.contextLength) return;
    session.append(path.handle, result);
    for (const id of result) path.response.push({ id, written: false, logprob: 0, entropy: 0 });
    path.done = path.response.length >= responseLength;
  };

  let active = Array.from({ length: initialRollouts }, () => add());
  let roundsThatAdded = 0;
  for (let round = 0; active.length > 0; round++) {
    await Promise.all(active.map(advance)); // one batch; tools run at the same time
    const going = active.filter(({ done }) => !done);
    const added: Trajectory[] = [];
    for (const path of going) {
      if (trajectories.length === n) break; // the budget is spent
      const id = trajectories.indexOf(path);
      const u = random.split("branch").split(id).split(round).at(0);
      const yes = branches(u, path.entropy - path.baseline!, roundsThatAdded, use);
      decisions.push([id, round, yes]);
      if (yes) added.push(add(path));
    }
    // All have ended: what is left of the budget starts at the prompt.
    if (going.length === 0 && trajectories.length < n) added.push(add());
    if (added.length > 0) roundsThatAdded++;
    active = [...going, ...added];
  }
  session.dispose();
  return { trajectories, decisions };
}

/** Part 2, the published reward: -1 for a broken format, otherwise the F1 of the boxed answer. */
function rewardOf({ response }: Trajectory, { groundTruth }: Task, policy: ModelPolicy): number {
  const ids = response.map(({ id }) => id);
  const text = policy.tokenizer.decode(ids, { skipSpecial: true });
  return deepResearch({ response: text, groundTruth }).score;
}

/** Part 3: how many standard deviations a reward is above the mean of its group. No critic. */
function advantagesOf(rewards: number[]): number[] {
  const mean = rewards.reduce((sum, r) => sum + r, 0) / rewards.length;
  const variance = rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (rewards.length - 1);
  return rewards.map((r) => (r - mean) / (Math.sqrt(variance) + 1e-6));
}

type Scored = Trajectory & { reward: number; advantage: number };

/** Part 4: the mean loss over all tokens that the model wrote. */
function lossOf(scored: Scored[], { model }: ModelPolicy, use: typeof arpo): tf.Scalar {
  const sequences = scored.map(({ prompt, response }) => [...prompt, ...response.map((t) => t.id)]);
  const width = Math.max(...sequences.map(({ length }) => length)); // shorter ones are padded
  const written = scored
    .flatMap(({ prompt, response, advantage }, i) =>
      // A token is predicted at the position before it.
      response.map((token, t) => ({ ...token, advantage, at: i * width + prompt.length + t - 1 })),
    )
    .filter((token) => token.written);
  const list = (of: (token: (typeof written)[number]) => number, type?: "int32") =>
    tf.tensor1d(written.map(of), type);
  const { logprobs } = model.logProbsAt(
    model.batch(sequences),
    list((token) => token.at, "int32"),
    list((token) => token.id, "int32"),
  );
  let advantage: tf.Tensor = list((token) => token.advantage);
  if (use.balancedAdvantage) {
    // Uncertain tokens weigh more: A (1 + 0.2 z), with z the standardised entropy.
    const entropy = list((token) => token.entropy);
    const { mean, variance } = tf.moments(entropy);
    advantage = advantage.mul(entropy.sub(mean).div(variance.sqrt().add(1e-8)).mul(0.2).add(1));
  }
  // How much more likely a token is now than when it was sampled.
  const ratio: tf.Tensor = logprobs.sub(list((token) => token.logprob)).exp();
  const [low, high] = [1 - settings.clipRatio, 1 + settings.clipRatio];
  // Beyond the bounds PPO drops a token's gradient. AEPO keeps it at the upper bound, where rare
  // tokens that turned out well are: the value is the bound's, the gradient the token's.
  const clipped: tf.Tensor = use.balancedClipping
    ? tf.minimum(tf.maximum(ratio, low), tf.div<tf.Tensor>(high, detached(ratio)).mul(ratio))
    : ratio.clipByValue(low, high);
  return tf.minimum(ratio.mul(advantage), clipped.mul(advantage)).mean().neg().asScalar();
}

/** The loop: roll out, score, compare, update. */
export async function train(steps: number, use = arpo): Promise<void> {
  await ready();
  const policy = await Policy.load("data/models/tiny");
  const { model } = policy;
  const { prompts, miniBatch, learningRate } = settings;
  const questions = tasks.calc({ seed: 7, train: steps * prompts, test: 1 }).train;
  const tools = taskTools({ pages: [] }); // Python in a sandbox, and a search without pages
  const optimizer = new AdamW(model.trainable, { learningRate, maxNorm: 1 });
  for (let step = 0; step < steps; step++) {
    const batch = questions.slice(step * prompts, (step + 1) * prompts);
    const random = Random.from(1).split(step);
    const groups = await Promise.all(
      batch.map(async (task, i): Promise<Scored[]> => {
        const { trajectories } = await growTree(policy, tools, task, random.split(i), use);
        const rewards = trajectories.map((path) => rewardOf(path, task, policy));
        const advantages = advantagesOf(rewards);
        return trajectories.map((path, j) => ({
          ...path,
          reward: rewards[j]!,
          advantage: advantages[j]!,
        }));
      }),
    );
    for (let at = 0; at < prompts; at += miniBatch) {
      const scored = groups.slice(at, at + miniBatch).flat();
      const { value, gradients } = gradientsOf(() => lossOf(scored, policy, use), model.trainable);
      await optimizer.step(gradients);
      tf.dispose([value, gradients]);
    }
    model.changed(); // what samples takes up the new weights
    const all = groups.flat();
    const mean = all.reduce((sum, { reward }) => sum + reward, 0) / all.length;
    const branched = all.filter(({ parent }) => parent >= 0).length;
    console.log(
      `step ${step + 1}: reward ${mean.toFixed(3)}, ${branched} of ${all.length} branched`,
    );
  }
  await tools.dispose();
  policy.dispose();
}

// Run as a program, not imported.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const words = process.argv.slice(2);
  const steps = Number(words.find((word) => /^\d+$/.test(word)) ?? 6);
  await train(steps, words.includes("aepo") ? aepo : arpo);
}
