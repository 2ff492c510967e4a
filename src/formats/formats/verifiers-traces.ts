import { defined } from "../../../common/options/defined.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { isRecord } from "../../../common/options/is-record.js";
import {
  chatOf,
  type FileRecord,
  idsOf,
  listOf,
  numberIn,
  numbersIn,
  numbersPerToken,
  oldestOf,
  truthIn,
} from "../row/fields.js";
import type { ImportedPart, ImportedRow } from "../row/imported-row.js";
import { messageText, OpenCalls } from "../row/message-text.js";
import { TraceUpdates } from "../row/trace-updates.js";
import type { RolloutFormat } from "./format.js";

interface GraphNode {
  parent: number;
  sampled: boolean;
  fields: FileRecord;
}

function graphOf(trace: FileRecord): GraphNode[] {
  return listOf(trace, "nodes").map((node, i) => {
    if (!isRecord(node) || !isRecord(node["message"])) {
      throw new TypeError(`nodes[${i}] must be an object with a message`);
    }
    const parent = node["parent"] ?? -1;
    if (!Number.isInteger(parent) || (parent as number) < -1 || (parent as number) >= i) {
      throw new RangeError(
        `nodes[${i}].parent must be null or a node before it, got ${String(parent)}`,
      );
    }
    return { parent: parent as number, sampled: node["sampled"] === true, fields: node };
  });
}

/** The paths from a root to each leaf: what the trace calls branches. */
function pathsOf(nodes: readonly GraphNode[]): GraphNode[][] {
  const inner = new Set(nodes.map(({ parent }) => parent));
  return nodes.flatMap((_, leaf) => {
    if (inner.has(leaf)) return [];
    const path: GraphNode[] = [];
    for (let id = leaf; id >= 0; id = nodes[id]!.parent) path.push(nodes[id]!);
    return [path.reverse()];
  });
}

const message = ({ fields }: GraphNode) => chatOf([fields["message"]], "message")[0]!;

/** A node's tokens in spans of one writer, as its mask says. */
function stretchesOf({ fields }: GraphNode): ImportedPart[] {
  const tokens = idsOf(fields, "token_ids");
  const mask = listOf(fields, "mask").map(Boolean);
  if (mask.length !== tokens.length) {
    throw new RangeError(
      `mask must have an entry for each of ${tokens.length} tokens, got ${mask.length}`,
    );
  }
  const sampled = mask.filter(Boolean).length;
  const own = (name: string) => numbersPerToken(fields, name, sampled);
  const streams = {
    logprobs: own("logprobs"),
    entropies: own("entropies"),
    advantages: own("advantages"),
  };
  const parts: ImportedPart[] = [];
  let written = 0;
  for (let at = 0; at < tokens.length;) {
    let to = at;
    while (to < tokens.length && mask[to] === mask[at]) to++;
    const part: ImportedPart = { by: mask[at] ? "model" : "tool", tokens: tokens.slice(at, to) };
    if (part.by === "model") {
      for (const [name, values] of Object.entries(streams)) {
        if (values) part[name as keyof typeof streams] = values.slice(written, written + to - at);
      }
      written += to - at;
    }
    parts.push(part);
    at = to;
  }
  return parts;
}

/** What follows the prompt, token by token, with its place among the messages. */
function tokenParts(path: readonly GraphNode[], first: number) {
  const promptTokens = path.slice(0, first).flatMap((node) => [...idsOf(node.fields, "token_ids")]);
  const parts: ImportedPart[] = [];
  const calls = new OpenCalls();
  for (const node of path.slice(first)) {
    const said = message(node);
    if (node.sampled) calls.asked(said);
    let told = false;
    for (const part of stretchesOf(node)) {
      if (part.by === "model") {
        parts.push({ ...part, text: told ? "" : messageText(said) });
        told = true;
        continue;
      }
      const last = parts.at(-1);
      // The template's words before the model's first are the prompt's; later ones end a tool's answer.
      if (!last) promptTokens.push(...part.tokens!);
      else if (last.by === "tool") last.tokens = [...last.tokens!, ...part.tokens!];
      else if (node.sampled) parts.push({ ...part, text: "" });
      else parts.push({ ...part, text: messageText(said), call: calls.answered(said) });
    }
  }
  return { promptTokens, parts };
}

const hasTokens = (path: readonly GraphNode[]) =>
  path.every(({ fields }) => Array.isArray(fields["token_ids"]) && fields["token_ids"].length > 0);

function rewardOf(trace: FileRecord) {
  const rewards = isRecord(trace["rewards"]) ? Object.entries(trace["rewards"]) : [];
  const numbers: Record<string, number> = isRecord(trace["metrics"])
    ? numbersIn(trace["metrics"])
    : {};
  let score: number | undefined;
  for (const [name, reward] of rewards) {
    const value = isRecord(reward) ? numberIn(reward["score"]) : undefined;
    if (value === undefined) continue;
    numbers[name] = value;
    score = (score ?? 0) + value * (numberIn((reward as FileRecord)["weight"]) ?? 1);
  }
  return { score, numbers };
}

function endOf({ stop_condition: stop }: FileRecord): TrajectoryEnd | undefined {
  if (typeof stop !== "string") return undefined;
  if (stop === "max_turns") return "call-limit";
  if (stop === "max_input_tokens" || stop === "max_total_tokens") return "context";
  return stop.startsWith("max_") ? "length" : "answer";
}

function rowsOfTrace(
  trace: FileRecord,
  shared: Partial<ImportedRow>,
  group: string,
): ImportedRow[] {
  const agent = isRecord(trace["agent"]) ? trace["agent"]["name"] : undefined;
  const { score, numbers } = rewardOf(trace);
  const end = endOf(trace);
  return pathsOf(graphOf(trace)).flatMap((path): ImportedRow[] => {
    const first = path.findIndex(({ sampled }) => sampled);
    if (first < 0) return [];
    const prompt = path.slice(0, first).map(message);
    return [
      {
        ...shared,
        prompt: prompt.length > 0 ? prompt : "",
        ...(hasTokens(path)
          ? tokenParts(path, first)
          : { parts: [], messages: path.slice(first).map(message) }),
        group: JSON.stringify([group, agent ?? "agent"]),
        ...defined({ score, end }),
        numbers,
      },
    ];
  });
}

/** What an episode says of all its traces; a trace that stands alone says it of itself. */
function sharedOf(record: FileRecord, fileStep: number | undefined) {
  const task = isRecord(record["task"]) ? record["task"] : {};
  const data = isRecord(task["data"]) ? task["data"] : {};
  const run = isRecord(record["run"]) ? record["run"] : {};
  const work = isRecord(run["work"]) ? run["work"] : {};
  const grouped = isRecord(record["group"]) ? record["group"]["id"] : undefined;
  const step = numberIn(work["step"]) ?? fileStep;
  const groundTruth = truthIn(data["answer"]);
  // A group is one prompt's; without one, the same task makes the same prompt.
  const group = String(grouped ?? task["key"] ?? task["hash"] ?? JSON.stringify(data));
  const policy = isRecord(work["policy"]) ? work["policy"] : {};
  const version = oldestOf([policy["start"]].filter((start) => typeof start === "number"));
  const shared: Partial<ImportedRow> = defined({ step, groundTruth, version });
  return { shared, group };
}

const isGraph = (nodes: unknown): boolean =>
  Array.isArray(nodes) && nodes.every((node) => isRecord(node) && "message" in node);

/** `traces.jsonl` of verifiers 0.2 on, which prime-rl writes for every step: a message graph per agent. */
export const verifiersTraces: RolloutFormat = {
  name: "verifiers-traces",
  title: "verifiers' and prime-rl's traces.jsonl",
  fits: ({ traces, nodes }) =>
    Array.isArray(traces)
      ? traces.every((trace) => isRecord(trace) && isGraph(trace["nodes"] ?? []))
      : nodes !== undefined && isGraph(nodes),
  notes: { folder: "annotations", open: () => new TraceUpdates() },
  read: (record, { step, notes }) => {
    const { shared, group } = sharedOf(record, step);
    const given = Array.isArray(record["traces"]) ? (record["traces"] as FileRecord[]) : [record];
    const traces = given.map((trace) => notes?.of(trace) ?? trace);
    return { rows: traces.flatMap((trace) => rowsOfTrace(trace, shared, group)) };
  },
  says: {
    parents: "the message graph's parents, then shared prefixes across episodes",
    "tool results": "the mask of each message",
    "log-probs": "logprobs of the sampled tokens, to four digits",
    entropies: "entropies, where a trainer annotated them",
    rewards: "the weighted sum of rewards",
    advantages: "advantages, one per token; prime-rl's are in annotations",
    "ground truth": "task.data.answer",
    steps: "run.work.step or the folder step_N",
    "how trajectories ended": "stop_condition",
  },
};
