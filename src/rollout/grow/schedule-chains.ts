import { note } from "#platform/note";
import { shown } from "../../../common/options/check-arguments.js";
import type { Policy } from "../../policy/policy.js";
import { type Chain, tokenTexts } from "../expand/path-tokens.js";
import { groupMixed } from "../expand/group-mixed.js";
import { planChain } from "../expand/plan-chains.js";
import type { ChainRule, RuleDefinition } from "../rules/definition.js";
import { roundsOf } from "../rules/settings.js";
import { trajectoryOf } from "../tree/trajectory.js";
import type { RolloutState } from "./rollout-state.js";
import { finishTree } from "./finish-tree.js";
import type { LiveNode, LiveTrajectory } from "./live-trajectory.js";
import type { TreeRun } from "./tree-run.js";
import { slipsIn } from "../branch/slips.js";
import { expansionOf } from "../settings.js";

/** The trajectories of a growing tree as the rules see them, in the order of creation. */
export function liveChains(run: TreeRun): Chain[] {
  const roots: number[] = [];
  const start = run.prefixTokens.length;
  return run.trajectories.map(({ id, kind, parent, leaf, split, length, end }) => {
    roots[id] = parent < 0 ? id : roots[parent]!;
    const nodes: LiveNode[] = [];
    for (let node = leaf; node && node.trajectory >= 0; node = node.parent) nodes.push(node);
    return { id, kind, parent, tree: roots[id], start, split, length, end, nodes: nodes.reverse() };
  });
}

/**
 * ln p of the initial trajectories' tokens under the policy of now, by place in the response.
 * Undefined for rules that do not ask, and where there is no such policy: entropy alone then ranks.
 */
async function currentLogprobs(
  shared: RolloutState,
  run: TreeRun,
): Promise<((trajectory: number) => Float32Array | undefined) | undefined> {
  const { config, rule, sampling, policy } = shared;
  if (!rule?.readsFuture || config.expand!["signal"] === "random") return undefined;
  const current = shared.current ?? (slipsIn(config).has("asksSampler") ? policy : undefined);
  if (!current) {
    sayEntropyAlone(rule.name);
    return undefined;
  }
  const scores = readerOf(current, rule.name);
  const trajectories = liveChains(run).map(({ nodes }) => ({
    prompt: run.prompt.tokens,
    tokens: Int32Array.from([...run.prefixTokens, ...nodes.flatMap(({ tokens }) => [...tokens])]),
  }));
  const temperature = sampling.temperature ?? 1;
  const found = await scores(trajectories, { temperature: temperature > 0 ? temperature : 1 });
  return (trajectory) => found[trajectory]?.logprobs;
}

/** How a policy reads trajectories again; throws where it cannot. */
function readerOf(policy: Policy, rule: string): NonNullable<Policy["logProbs"]> {
  if (!policy.logProbs) {
    throw new TypeError(
      `Cannot roll out: rule ${rule} reads trajectories again under \`current\`, which must be able to say log-probabilities, got policy ${policy.name} that only writes`,
    );
  }
  return policy.logProbs.bind(policy);
}

let said = false;

/** Says once what a trajectory's future was not asked for. */
function sayEntropyAlone(rule: string): void {
  if (said) return;
  said = true;
  note(
    `arpo-lab: rule ${rule} without \`current\`: tokens are ranked by entropy alone, since no other policy says what their future is worth`,
  );
}

/**
 * Grows one tree by a rule that looks at whole chains: some trajectories to their end, then in each of the
 * rule's rounds further trajectories that leave them where the rule says, each to its end.
 */
export async function growByChains(
  shared: RolloutState,
  run: TreeRun,
  rule: Extract<RuleDefinition, ChainRule<unknown>>,
): Promise<void> {
  const { config, policy } = shared;
  const settings = expansionOf(config)!;
  const rounds = roundsOf(settings);
  run.retaining = rounds > 0;
  const first = run.start(config.initialRollouts);
  await Promise.all(first.map((trajectory) => toTheEnd(shared, run, trajectory)));
  const reading = {
    ...tokenTexts(policy.tokenizer),
    most: rule.wanted?.(settings) ?? config.n,
    random: run.random.split("signal"),
    ranking: shared.ranking,
    current: await currentLogprobs(shared, run),
    shifted: slipsIn(config).has("shifted"),
    mixed: await mixedSignal(shared, run),
  };
  const bases =
    rule.bases && shared.judge ? rule.bases(await judged(shared, run), settings) : undefined;

  const right = () => (rule.judgesRounds ? judged(shared, run) : undefined);

  for (let round = 1; round <= rounds; round++) {
    const chains = liveChains(run).map((chain) => planChain(chain, rule, settings, reading));
    const random = run.random.split("expand").split(round);
    const state = { random, budget: run.remaining, bases, right: await right() };
    const chosen = rule.choose(settings, chains, state);
    const born = chosen.map(({ trajectory, ...choice }, order) =>
      run.leave(run.trajectories[trajectory]!, choice.at, { round, order, ...choice }),
    );
    if (round === rounds) run.release();
    await Promise.all(born.map((trajectory) => toTheEnd(shared, run, trajectory)));
  }
  if (rule.fills ?? true) await fill(shared, run);
  const random = run.random.split("keep");
  const chains = liveChains(run).map((chain) => planChain(chain, rule, settings, reading));
  const all = () => chains.map(({ id }) => id);
  const how = { n: config.n, random, right: await right() };
  run.selection = rule.keep?.(settings, chains, how) ?? all();
  run.close();
}

/** Lets a trajectory write, call and read until it ends. */
async function toTheEnd(
  shared: RolloutState,
  run: TreeRun,
  trajectory: LiveTrajectory,
): Promise<void> {
  for (let { round } = trajectory; ; round++) {
    const left = shared.config.responseLength - trajectory.length;
    const node = await run.generate(trajectory, round, Math.max(1, left));
    const outcome = run.classify(trajectory, node);
    const fits = outcome.kind === "call" ? await run.call(trajectory, round, outcome) : true;
    if (!run.survives(trajectory, outcome, fits)) return;
  }
}

/** Where too few places were found, trajectories from the prompt make up for it. */
async function fill(shared: RolloutState, run: TreeRun): Promise<void> {
  const fresh: LiveTrajectory[] = [];
  while (run.remaining > 0) fresh.push(run.refill(-1)!);
  await Promise.all(fresh.map((trajectory) => toTheEnd(shared, run, trajectory)));
}

/** What the outcomes of the first trajectories say of each of their tokens, where the rule ranks by it. */
async function mixedSignal(shared: RolloutState, run: TreeRun) {
  if (shared.config.expand!["signal"] !== "group-mixed") return undefined;
  return groupMixed(liveChains(run), await judged(shared, run));
}

/** Which of the first trajectories are right, as the caller's judge says. */
async function judged(shared: RolloutState, run: TreeRun): Promise<readonly boolean[]> {
  const { config, policy, judge } = shared;
  await run.outcomes();
  const trajectories = run.trajectories.map(({ id }) => id);
  const made = finishTree(run, run.task, config, policy);
  const tree = { ...made, selection: trajectories };
  const right = await judge!(
    trajectories.map((trajectory) => trajectoryOf(tree, trajectory)),
    tree,
  );
  if (!Array.isArray(right) || right.length !== trajectories.length) {
    throw new TypeError(
      `Cannot roll out: judge must say true or false of each of the ${trajectories.length} trajectories, got ${shown(right)}`,
    );
  }
  return right;
}
