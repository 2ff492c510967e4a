import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { ImportedPart, ImportedRow } from "../../formats/row/imported-row.js";
import { treeOfRows } from "../../formats/trees/tree-of-rows.js";
import type { EpisodeScore } from "../../environments/environment.js";
import { defined } from "../../../common/options/defined.js";
import type { Sampler } from "../../policy/policy.js";
import { cutSupport } from "../../policy/token-sets.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { RolloutTask } from "../../rollout/task.js";
import type { TrajectoryEnd, TreeNode, TreeTrajectory } from "../../rollout/tree/tree-values.js";
import type { CaptureTask, LinkedCall } from "./captured-call.js";

/** A session as trees are made of it. */
export interface SessionTrajectories {
  id: string;
  group: string;
  task: CaptureTask;
  calls: readonly LinkedCall[];
  reward?: EpisodeScore;
  seed: number;
  /** The session that it repeats, and where it leaves it. */
  branch?: { of: string; call: number; token: number };
}

/** Whose answers they are. */
export interface Author {
  name: string;
  tokenizer: Tokenizer;
  sampler?: Sampler;
}

/** Cuts parts behind so many ids. */
function cutParts(parts: readonly ImportedPart[], count: number): ImportedPart[] {
  const kept: ImportedPart[] = [];
  let left = count;
  for (const part of parts) {
    const { length } = part.tokens!;
    if (left <= 0) break;
    if (length <= left) kept.push(part);
    else {
      kept.push({
        by: part.by,
        tokens: part.tokens!.slice(0, left),
        ...(part.logprobs ? { logprobs: part.logprobs.slice(0, left) } : {}),
        ...(part.entropies ? { entropies: part.entropies.slice(0, left) } : {}),
        ...cutSupport(part, 0, left),
      });
    }
    left -= length;
  }
  return kept;
}

/** What the program sent behind a recorded history: results of calls, or other words. */
function answerPart(call: LinkedCall, from: number): ImportedPart[] {
  const tokens = [...call.prompt.subarray(from)];
  if (tokens.length === 0) return [];
  const [first] = call.results;
  if (!first) return [{ by: "tool", tokens }];
  // Several results stand in one span, under the first call's name.
  const answer = call.results.map(({ result }) => result).join("\n");
  return [{ by: "tool", tokens, call: { tag: first.name, input: first.arguments, answer } }];
}

/** What follows the conversation's first prompt, up to the end of a call's answer. */
export function partsOf(calls: readonly LinkedCall[], call: LinkedCall): ImportedPart[] {
  const own: ImportedPart = {
    by: "model",
    tokens: [...call.tokens],
    logprobs: [...call.logprobs],
    entropies: [...call.entropies],
    ...defined({ support: call.support }),
  };
  if (call.parent < 0) return [own];
  const parent = calls[call.parent]!;
  const start = calls[call.root]!.prompt.length;
  const whole = partsOf(calls, parent);
  if (call.resumes !== undefined) return [...whole, ...answerPart(call, call.resumes), own];
  const shared = call.rewrite?.shared ?? parent.prompt.length + parent.tokens.length;
  const before = call.rewrite ? cutParts(whole, shared - start) : whole;
  return [...before, ...answerPart(call, shared), own];
}

/** The calls that end a trajectory: nothing continues them, and no retry replaced them. */
export function leavesOf(calls: readonly LinkedCall[]): LinkedCall[] {
  const continued = new Set(calls.flatMap(({ rewrite, parent }) => (rewrite ? [] : [parent])));
  return calls.filter(
    ({ id, tokens, retriedBy }) =>
      tokens.length > 0 && retriedBy === undefined && !continued.has(id),
  );
}

function endOf({ finish, cut, calls }: LinkedCall): TrajectoryEnd {
  if (cut !== undefined || finish === "length") return "length";
  if (finish === "context") return "context";
  // It calls, and nobody answered.
  return calls.length > 0 ? "call-limit" : "answer";
}

/** A session's trajectories of one first prompt. */
interface Conversation {
  session: SessionTrajectories;
  prompt: Int32Array;
  leaves: LinkedCall[];
}

function conversationsOf(session: SessionTrajectories): Conversation[] {
  const found = new Map<string, Conversation>();
  for (const leaf of leavesOf(session.calls)) {
    const { prompt } = session.calls[leaf.root]!;
    const key = prompt.join();
    const known = found.get(key);
    if (known) known.leaves.push(leaf);
    else found.set(key, { session, prompt, leaves: [leaf] });
  }
  return [...found.values()];
}

/** A trajectory, and the conversation it is of. */
interface Row {
  conversation: Conversation;
  leaf: LinkedCall;
}

/** Trajectories that were sampled from one another, laid into one tree: what they begin with in common stands once. */
function layOut(trajectories: readonly Row[], { tokenizer }: Author) {
  const imported = trajectories.map(({ conversation: { session, prompt }, leaf }): ImportedRow => ({
    prompt: tokenizer.decode(prompt, { skipSpecial: false }),
    promptTokens: [...prompt],
    parts: partsOf(session.calls, leaf),
    end: endOf(leaf),
  }));
  const { id } = trajectories[0]!.conversation.session;
  return treeOfRows(imported, { index: 0, tokenizer, readable: true, id }).data;
}

/** Trajectories by the session that they began with: a session that repeats another is a branch of it. */
function familiesOf(conversations: readonly Conversation[]): Row[][] {
  const families = new Map<string, Row[]>();
  const origins = new Map<string, string>();
  for (const conversation of conversations) {
    const { id, branch } = conversation.session;
    const origin = branch ? (origins.get(branch.of) ?? branch.of) : id;
    origins.set(id, origin);
    const family = families.get(origin) ?? [];
    families.set(origin, family);
    family.push(...conversation.leaves.map((leaf) => ({ conversation, leaf })));
  }
  return [...families.values()];
}

/** A tree of the conversations that sessions of one group had about the same first prompt. */
function treeOf(conversations: readonly Conversation[], index: number, author: Author) {
  const { session } = conversations[0]!;
  const nodes: TreeNode[] = [];
  const trajectories: TreeTrajectory[] = [];
  const families = familiesOf(conversations);
  const laid = families.map((trajectories) => layOut(trajectories, author));
  for (const [i, data] of laid.entries()) {
    const rows = families[i]!;
    const [at, row] = [nodes.length, trajectories.length];
    const moved = (node: number) => (node < 0 ? node : node + at);
    const firstOf = (id: string) =>
      Math.max(
        0,
        rows.findIndex(({ conversation }) => conversation.session.id === id),
      );
    for (const node of data.nodes) {
      const { id, parent, trajectory } = node;
      nodes.push({
        ...node,
        ...{ id: id + at, parent: moved(parent), trajectory: trajectory + row },
      });
    }
    for (const trajectory of data.trajectories) {
      const { id, from, leaf } = trajectory;
      const { reward, branch, id: own } = rows[id]!.conversation.session;
      trajectories.push({
        ...trajectory,
        ...{ id: id + row, from: moved(from), leaf: moved(leaf) },
        ...(id > 0 ? { kind: "branch" as const, parent: row + firstOf(branch?.of ?? own) } : {}),
        ...(reward ? { outcome: { ...reward } } : {}),
      });
    }
  }
  const first = laid[0]!;
  const responseLength = Math.max(...laid.map(({ config }) => config.responseLength));
  const temperatures = new Set(
    conversations.flatMap(({ leaves }) => leaves.map(({ temperature }) => temperature)),
  );
  const [temperature = 1] = temperatures;
  const tags = nodes.flatMap(({ tool }) => (tool ? [tool.tag] : []));
  const rewarded = conversations.every((one) => one.session.reward !== undefined);
  const { prompt = first.prompt.text, ...task } = session.task;
  return new RolloutTree<RolloutTask>(
    {
      ...first,
      task: { ...task, id: session.group, prompt } as RolloutTask,
      index,
      policy: author.name,
      nodes,
      trajectories,
      config: {
        ...first.config,
        ...{ n: trajectories.length, responseLength, seed: session.seed },
        sampling: { ...first.config.sampling, temperature },
      },
      ...(rewarded
        ? {
            environment: {
              name: "captured program",
              tools: [...new Set(tags)],
              seed: session.seed,
            },
          }
        : {}),
      ...defined({ sampler: author.sampler }),
    },
    { tokenizer: author.tokenizer },
  );
}

/**
 * Trees of sessions: one for each group and first prompt, in the order in which these came. A session
 * without an answer has no trajectory.
 */
export function treesOfSessions(
  sessions: readonly SessionTrajectories[],
  author: Author,
): RolloutTree[] {
  const found = new Map<string, Conversation[]>();
  for (const session of sessions) {
    for (const conversation of conversationsOf(session)) {
      const key = JSON.stringify([session.group, conversation.prompt.join()]);
      const known = found.get(key);
      if (known) known.push(conversation);
      else found.set(key, [conversation]);
    }
  }
  return [...found.values()].map((conversations, i) => treeOf(conversations, i, author));
}
