import { defined } from "../../../common/options/defined.js";
import {
  checkOptions,
  integer,
  type OptionRules,
  required,
} from "../../../common/options/check-options.js";
import type { Policy } from "../../policy/policy.js";
import { cutSupport } from "../../policy/token-sets.js";
import { Random } from "../../base/random/random.js";
import { ToolSet, type ToolOutcome } from "../../tools/tool-set.js";
import { answerParts, callAll, type CalledTools, classify, encodeResult } from "./calls.js";
import { readyOptions, rolloutConfig } from "../config.js";
import { expansionOf, type RolloutConfig } from "../settings.js";
import { finishTree } from "./finish-tree.js";
import type { LiveNode } from "./live-trajectory.js";
import {
  type ReadyOptions,
  type RolloutOptions,
  type RolloutRule,
  rolloutRules,
} from "../options.js";
import { type Grown, GrowthFailure, growTrees } from "./grow-trees.js";
import { inEnvironments, plainIn, type TreeEpisodes } from "./tree-episodes.js";
import { shareTrunks, type TreeStart } from "./tree-start.js";
import { chatOf, type RolloutTask, withObservation } from "../task.js";
import { definitionOf, type ExpandOptions, writtenRule } from "../rules/registry.js";
import { settingsBesidesRule } from "../rules/settings.js";
import { pathOf, type RolloutTreeData, type TreeOrigin, treeRandom } from "../tree/tree-data.js";
import { resultSpans, tokensBegun } from "./split-node.js";
import type { CallFormat } from "../../tools/calls/call-format.js";
import { definitionsOf, nativeCalls, withCallsOf } from "../native-calls.js";
import type { TreeNode } from "../tree/tree-values.js";

/** What a fork does differently: any option of a rollout, and where exactly it starts. */
export interface ForkChanges extends RolloutOptions {
  /** Needed for trees that were read from a file; otherwise the policy that made the tree. */
  policy?: Policy;
  /** Keep only this many tokens of the node. */
  at?: number;
  /** The tool's answer from here on: instead of the node's own, or instead of calling the tool. */
  result?: string;
}

const changeRules: OptionRules<Omit<ForkChanges, "at" | "result">> = {
  ...rolloutRules,
  policy: "policy?",
};

const placeRules: OptionRules<ForkPlace> = {
  node: required(integer(0)),
  at: integer(0),
  result: "text?",
};

/** What `fork` needs besides the tree: known for trees made in this process. */
export interface TreeRuntime {
  policy: Policy;
  options: ReadyOptions;
}

/** A grown tree's data, and what made it. */
interface Forked<T extends RolloutTask> {
  data: RolloutTreeData<T>;
  runtime: TreeRuntime;
}

/** Where a fork leaves a tree. */
export interface ForkPlace {
  node: number;
  /** Keep only this many tokens of the node. */
  at?: number;
  /** The tool's answer from here on. */
  result?: string;
}

/** Grows the trees that `RolloutTree.forks` promises: one for each place, all in one session. */
export async function forkTrees<T extends RolloutTask>(
  tree: RolloutTreeData<T>,
  places: readonly ForkPlace[],
  changes: Omit<ForkChanges, "at" | "result">,
  runtime: TreeRuntime | undefined,
): Promise<Forked<T>[]> {
  checkOptions("fork", changes, changeRules);
  const { policy = runtime?.policy, ...own } = changes;
  if (!policy) {
    throw new TypeError("Cannot fork: a tree that was read from a file needs a policy, got none");
  }
  const given = withCallsOf(policy.tokenizer, readyOptions("fork", own));
  const options = forkOptions(tree.config, runtime?.options, given);
  const config = rolloutConfig(options);
  for (const place of places) checkPlace(tree, place);
  checkEnvironment(tree, options);
  if (places.length === 0) return [];
  // Its randomness is the tree's, whatever seed the fork draws with.
  const seed = Random.from(tree.environment?.seed ?? 0);
  const opened = places.map(() => ({ task: tree.task, index: tree.index }));
  return inEnvironments(opened, seed, options, async (episodes, within) => {
    const starts = await Promise.all(
      places.map((place, i) =>
        startOf(tree, place, { policy, config, options, episodes: episodes?.[i] }),
      ),
    );
    shareTrunks(starts);
    let grown: Grown[];
    try {
      grown = await growTrees(policy, config, within, starts);
    } catch (error) {
      throw error instanceof GrowthFailure ? error.reason : error;
    }
    return grown.map(({ run }, i) => {
      const data = finishTree(run, tree.task, config, policy, tree.environment?.seed);
      return {
        data: { ...data, origin: originOf(tree, places[i]!) },
        runtime: { policy, options },
      };
    });
  });
}

const originOf = (tree: RolloutTreeData, { node, at }: ForkPlace): TreeOrigin => ({
  node,
  at: at ?? tree.nodes[node]!.tokens.length,
  seed: tree.config.seed,
});

function checkPlace(tree: RolloutTreeData, place: ForkPlace): void {
  checkOptions("fork", place, placeRules);
  if (tree.nodes[place.node]) return;
  throw new RangeError(
    `Cannot fork: the node must be one of 0 to ${tree.nodes.length - 1}, got ${place.node}`,
  );
}

/** A tree that starts where a place of another one is. */
async function startOf(
  tree: RolloutTreeData,
  place: ForkPlace,
  where: Omit<Cut, "at" | "result">,
): Promise<TreeStart & { prefixTokens: readonly number[] }> {
  const { policy, config, episodes } = where;
  if (episodes && episodes.observation !== tree.environment!.observation) {
    throw new Error(
      `Cannot fork: environment ${episodes.name} must say what it said when the tree was made, got ${JSON.stringify(episodes.observation?.slice(0, 120))}`,
    );
  }
  const definitions = definitionsOf(where.options.tools ?? [], episodes?.descriptions ?? {});
  const calls = nativeCalls(where.options, policy.tokenizer, definitions);
  const { describe = false } = where.options;
  const task =
    describe && !calls
      ? (await import("../describe-tools.js")).describedIn(tree.task, definitions)
      : tree.task;
  const told = withObservation(task, episodes?.observation);
  const cut: Cut = { ...where, calls, at: place.at, result: place.result };
  const prefix = await prefixOf(tree, tree.nodes[place.node]!, cut);
  const path: LiveNode[] = [];
  for (let n: LiveNode | undefined = prefix; n; n = n.parent) path.unshift(n);
  const prefixTokens = path.flatMap((n) => [...n.tokens]);
  if (prefixTokens.length >= config.responseLength) {
    throw new RangeError(
      `Cannot fork: responseLength must exceed the ${prefixTokens.length} tokens before the fork, got ${config.responseLength}`,
    );
  }
  return {
    index: tree.index,
    prompt: tree.prompt,
    task: tree.task,
    messages: chatOf(told, tree.prompt, policy.tokenizer),
    random: treeRandom({ config, index: tree.index, origin: originOf(tree, place) }),
    prefix,
    prefixTokens,
    calls: path.filter((n) => n.kind === "tool").length,
    episodes,
  };
}

/** Throws unless a tree that was made in an environment continues in one, and no other does. */
function checkEnvironment({ environment: made }: RolloutTreeData, options: ReadyOptions): void {
  if ((made === undefined) === (options.environment === undefined)) return;
  throw new TypeError(
    made
      ? `Cannot fork: the tree was made in environment ${made.name} and needs it, got none`
      : "Cannot fork: the tree was made without an environment and cannot go on in one, got one",
  );
}

/** The settings of the tree with the changes; pre-monitoring is about whole prompts and stays off. */
function forkOptions(
  config: RolloutConfig,
  made: ReadyOptions | undefined,
  changes: ReadyOptions,
): ReadyOptions {
  const options: ReadyOptions = {
    ...config,
    rule: config.rule as RolloutRule,
    ...expandingAgain(config, changes, made),
    current: made?.current,
    judge: made?.judge,
    tools: made?.tools,
    environment: made?.environment,
    ...defined({ describe: made?.describe, quiet: made?.quiet }),
    // A format of the caller's own is known to the tree's maker alone.
    calls: made?.calls ?? (config.calls as ReadyOptions["calls"]),
    ...defined(changes),
    dynamicRollouts: false,
    scheduling: "prompt",
  };
  const tools = changes.tools ?? made?.tools;
  if (!tools && config.tools.length > 0) {
    throw new TypeError(
      `Cannot fork: the tree was made with tools (${config.tools.join(", ")}), got none`,
    );
  }
  if (changes.n !== undefined && changes.initialRollouts === undefined) {
    options.initialRollouts = Math.min(config.initialRollouts, changes.n);
  }
  if (changes.beamSize !== undefined && changes.attemptsPerTrajectory === undefined) {
    options.attemptsPerTrajectory = changes.beamSize - 1;
  }
  return options;
}

/**
 * The rule that looked at what was written, where a fork goes on with it. Another rule has its own numbers
 * of trajectories, and so has a fork that says how many it wants of a rule that fixes them.
 */
function expandingAgain(
  config: RolloutConfig,
  { rule, n, expand }: ReadyOptions,
  made: ReadyOptions | undefined,
): ReadyOptions {
  const expansion = expansionOf(config);
  const given = writtenRule(rule);
  const isAnother = rule !== undefined && (given?.name ?? rule) !== expansion?.rule;
  const none = { expand: undefined };
  if (isAnother && given) return { ...none, n: undefined, initialRollouts: undefined };
  if (!expansion || isAnother) return none;
  // A rule of the caller's own is known to the tree's maker alone.
  const definition = given ?? writtenRule(made?.rule) ?? definitionOf(expansion);
  const own = definition as ReadyOptions["rule"];
  const settings: ExpandOptions = settingsBesidesRule(expansion);
  if (settings.signal === "own") settings.signal = made?.expand?.signal;
  const fixed = definition.trajectories?.({ ...expansion, ...expand });
  if (fixed?.n === undefined) return { rule: own, expand: settings };
  if (n !== undefined && expand === undefined)
    return { ...none, rule: "arpo-code", beamSize: 1, attemptsPerTrajectory: 0 };
  return {
    rule: own,
    expand: { ...settings, ...expand },
    n: undefined,
    initialRollouts: undefined,
  };
}

interface Cut {
  /** How calls are written; absent for tags. */
  calls?: CallFormat | undefined;
  at: number | undefined;
  result: string | undefined;
  policy: Policy;
  config: RolloutConfig;
  options: ReadyOptions;
  episodes: TreeEpisodes | undefined;
}

/** The prefix of the old tree that the new one starts with. */
async function prefixOf(tree: RolloutTreeData, target: TreeNode, cut: Cut): Promise<LiveNode> {
  const { at, result, policy, config } = cut;
  const { length } = target.tokens;
  if (at !== undefined && !(Number.isInteger(at) && at >= 0 && at <= length)) {
    throw new RangeError(`Cannot fork: at must be an integer from 0 to ${length}, got ${at}`);
  }
  let last: LiveNode | undefined;
  for (const node of pathOf(tree, target.id)) last = copy(withVersions(node, tree, policy), last);
  if (target.kind === "tool") {
    if (at !== undefined && at < length) {
      throw new RangeError(
        `Cannot fork: 'at' cuts what the model wrote, and node ${target.id} is a tool's result; edit it with 'result'`,
      );
    }
    if (result === undefined) return last!;
    if (last!.parent?.kind === "tool" || target.tokens.length === 0) {
      throw new RangeError(
        `Cannot fork: the result of node ${target.id} stands with others that answer the same turn and cannot be edited alone`,
      );
    }
    const edited = { ...target.tool!, text: result };
    // What the call earned was for the answer it had.
    delete edited.reward;
    return resultNode(last!.parent!, edited, cut, last);
  }
  if (at !== undefined && at < length) {
    if (result !== undefined) {
      throw new RangeError(
        `Cannot fork: 'result' answers a call, and node ${target.id} is cut at ${at} before its end`,
      );
    }
    return cutNode(last!, at, policy);
  }
  const path = pathOf(tree, target.id);
  const tokens = path.flatMap((node) => [...node.tokens]);
  const next = classify({
    segment: target.kind === "end" ? { finish: "end" } : target,
    tokens,
    promptLength: 0,
    calls: path.filter((node) => node.kind === "tool").length,
    callLimit: config.callLimit,
    responseLength: config.responseLength,
    takesNothing: plainIn(cut.options.tools, cut.episodes),
    searchPrompt: false,
    tokenizer: policy.tokenizer,
    format: cut.calls,
    turn: tokensBegun(last),
    results: resultSpans(last, 0),
  });
  if (next.kind === "keep") return last!;
  if (next.kind === "end") {
    throw new RangeError(
      `Cannot fork: node ${target.id} ends its trajectory (${next.why}); choose a token before its end with 'at'`,
    );
  }
  const { tag, input, all = [next] } = next;
  if (all.length > 1) {
    throw new RangeError(
      `Cannot fork: node ${target.id} makes ${all.length} calls that are answered together; choose the answer's node, or a token before the end with 'at'`,
    );
  }
  if (result !== undefined) {
    return resultNode(last!, { tag, input, text: result, ok: true, retries: 0 }, cut);
  }
  const { ms, details, ...outcome } = await callFor(cut, last, next);
  const node = resultNode(last!, outcome, cut);
  delete node.tool!.edited;
  node.run = { start: 0, end: ms, toolMs: ms };
  if (details) node.run.details = details;
  return node;
}

/** Makes the call that a segment ends with. */
async function callFor(
  { options: { tools = new ToolSet(), signal }, episodes }: Cut,
  last: LiveNode | undefined,
  called: CalledTools,
): Promise<ToolOutcome> {
  const episode = episodes?.tags.includes(called.tag) ? episodes.after(last) : undefined;
  const acting = episode && {
    tags: episodes!.tags,
    call: (tag: string, input: string) => episode.call(tag, input, signal),
  };
  try {
    const [outcome] = await callAll(called, tools, acting, signal);
    return outcome!;
  } finally {
    await episode?.leave();
  }
}

/** A node that says itself which weights wrote it, where the fork's are others. */
function withVersions(node: TreeNode, { version = -1 }: RolloutTreeData, policy: Policy): TreeNode {
  const same = version === (policy.version ?? -1);
  if (node.kind !== "model" || node.versions || same) return node;
  return { ...node, versions: new Int32Array(node.tokens.length).fill(version) };
}

/** Trajectory -1: made by an earlier tree. */
function copy(node: TreeNode, parent: LiveNode | undefined): LiveNode {
  const copied: LiveNode & { id?: number } = { ...node, parent, trajectory: -1, round: -1 };
  delete copied.id;
  delete copied.branch;
  return copied;
}

function cutNode(node: LiveNode, at: number, policy: Policy): LiveNode {
  const tokens = node.tokens.slice(0, at);
  const cut: LiveNode = {
    ...node,
    tokens,
    text: policy.tokenizer.decode(tokens, { skipSpecial: true }),
    logprobs: node.logprobs.slice(0, at),
    entropies: node.entropies.slice(0, at),
    finish: "length",
  };
  delete cut.stop;
  delete cut.entropy;
  if (node.top) {
    const { width, ids, logprobs } = node.top;
    const until = at * width;
    cut.top = { width, ids: ids.slice(0, until), logprobs: logprobs.slice(0, until) };
  }
  delete cut.support;
  Object.assign(cut, cutSupport(node, 0, at));
  if (node.versions) cut.versions = node.versions.slice(0, at);
  return cut;
}

function resultNode(
  parent: LiveNode,
  tool: NonNullable<TreeNode["tool"]>,
  { policy, config, calls }: Cut,
  like?: LiveNode,
): LiveNode {
  const { resultBegin } = config.compat;
  const answer = answerParts(calls, [tool]);
  const block = encodeResult(answer, policy.tokenizer, resultBegin, policy.contextLength);
  if (!block.whole) {
    throw new RangeError(
      `Cannot fork: the tool's result must fit into the policy's context of ${policy.contextLength} tokens, got ${tool.text.length} characters`,
    );
  }
  return {
    parent,
    kind: "tool",
    trajectory: -1,
    round: like?.round ?? -1,
    tokens: Int32Array.from(block.tokens),
    text: block.text,
    logprobs: new Float32Array(0),
    entropies: new Float32Array(0),
    tool: { ...tool, edited: true },
  };
}
