import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { chatOf, type FileRecord, isChat, listOf, numberIn, truthIn } from "../row/fields.js";
import type { ImportedRow } from "../row/imported-row.js";
import { piecesOf } from "../row/pieces.js";
import type { RolloutFormat } from "./format.js";

const isSample = (value: unknown): value is FileRecord =>
  isRecord(value) && "epoch" in value && Array.isArray(value["messages"]);

const isLog = (record: FileRecord) => "version" in record && isRecord(record["eval"]);

/** inspect's marks, as its own metrics count them: correct, partly, incorrect, no answer. */
const marks: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };

const ends: Readonly<Record<string, TrajectoryEnd>> = {
  stop: "answer",
  tool_calls: "answer",
  max_tokens: "length",
  model_length: "context",
};

/** What a sample was stopped by, where it was. */
const limits: Readonly<Record<string, TrajectoryEnd>> = {
  message: "call-limit",
  turn: "call-limit",
  token: "length",
  context: "context",
};

/** A message as other programs write it: a call's function is a name here, and a tool's error stands apart. */
function messageOf(message: FileRecord): FileRecord {
  const { role, content, tool_calls: calls, tool_call_id, function: name, error } = message;
  const failed = isRecord(error) && (content === "" || content === undefined);
  return {
    ...{ role, content: failed ? error["message"] : content },
    ...defined({ tool_call_id, name: role === "tool" ? name : undefined }),
    ...(Array.isArray(calls) && {
      tool_calls: calls
        .filter(isRecord)
        .map((call) => ({ id: call["id"], name: call["function"], arguments: call["arguments"] })),
    }),
  };
}

/** The scores by their names; a score of several values has a number for each. */
function numbersOf(scores: FileRecord): Record<string, number> {
  const found: [string, number][] = [];
  const note = (name: string, value: unknown) => {
    const number = typeof value === "string" ? (marks[value] ?? parseFloat(value)) : value;
    const known = numberIn(number);
    if (known !== undefined) found.push([name, known]);
  };
  for (const [name, score] of Object.entries(scores)) {
    const value = isRecord(score) ? score["value"] : undefined;
    if (!isRecord(value)) note(name, value);
    else for (const [part, one] of Object.entries(value)) note(`${name}/${part}`, one);
  }
  return Object.fromEntries(found);
}

/** What the sample's last call says: how it ended, and its tokens where that call alone made the answer. */
function lastCall(sample: FileRecord) {
  const output = isRecord(sample["output"]) ? sample["output"] : {};
  const choice: unknown = Array.isArray(output["choices"]) ? output["choices"][0] : undefined;
  const limit = isRecord(sample["limit"]) ? limits[String(sample["limit"]["type"])] : undefined;
  return {
    model: output["model"],
    end: limit ?? ends[String(isRecord(choice) ? choice["stop_reason"] : undefined)],
    ...(isRecord(choice) ? piecesOf(choice) : {}),
  };
}

function rowOf(
  sample: FileRecord,
  { step, scoreColumns }: { step?: number; scoreColumns?: readonly string[] },
): ImportedRow[] {
  const given = listOf(sample, "messages");
  // What stood in the task is no answer, though it may show some.
  const first = given.findIndex(
    (one) => isRecord(one) && one["role"] === "assistant" && one["source"] !== "input",
  );
  if (first < 0) return []; // it failed before the model said anything
  const chat = (from: number, to?: number) =>
    chatOf(isChat(given) ? given.slice(from, to).map(messageOf) : given, "messages");
  const scores = isRecord(sample["scores"]) ? sample["scores"] : {};
  const numbers = numbersOf(scores);
  const named = scoreColumns ?? Object.keys(numbers).slice(0, 1);
  const score =
    named.length === 0 ? undefined : named.reduce((sum, name) => sum + (numbers[name] ?? 0), 0);
  const told = scores[Object.keys(scores)[0] ?? ""];
  const { epoch, error, id } = sample;
  const { model, end, pieces, logprobs } = lastCall(sample);
  const messages = chat(first);
  const [{ content: text }] = messages as [(typeof messages)[number]];
  const isWhole = messages.length === 1 && pieces !== undefined && pieces.join("") === text;
  return [
    {
      prompt: first === 0 ? "" : chat(0, first),
      ...(isWhole
        ? { parts: [{ by: "model", text, ...defined({ pieces, logprobs }) }] }
        : { parts: [], messages }),
      group: String(id),
      ...defined({ step, score, end, groundTruth: truthIn(sample["target"]) }),
      numbers,
      ...(typeof model === "string" ? { model } : {}),
      extra: defined({
        ...{ epoch, reason: isRecord(told) ? (told["explanation"] ?? undefined) : undefined },
        error: error ?? undefined,
      }),
    },
  ];
}

/** Logs of inspect_ai: an archive with a file for each sample (`.eval`), or all samples in one JSON. */
export const inspectLogs: RolloutFormat = {
  name: "inspect",
  title: "inspect's logs",
  archived: /^samples\/[^]+\.json$/,
  fits: (record) => isLog(record) || isSample(record),
  read: (record, context) => {
    const samples = isLog(record) ? record["samples"] : [record];
    return {
      rows: (Array.isArray(samples) ? samples : [])
        .filter(isSample)
        .flatMap((sample) => rowOf(sample, context)),
    };
  },
  says: {
    "tool results": "messages of the role tool",
    "log-probs": "logprobs of the output, where an answer is one message",
    rewards: "the value of the first score, C as 1 and P as a half; all are metrics",
    "ground truth": "target",
    "how trajectories ended": "limit, or the output's stop_reason",
  },
};
