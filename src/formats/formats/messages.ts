import { defined } from "../../../common/options/defined.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { isRecord } from "../../../common/options/is-record.js";
import {
  chatOf,
  type FileRecord,
  isChat,
  numberIn,
  numbersIn,
  truthIn,
  withoutFields,
} from "../row/fields.js";
import { BlockCalls, bodyOf, isBlockCall } from "../row/block-calls.js";
import { piecesOf } from "../row/pieces.js";
import type { ImportedRow } from "../row/imported-row.js";
import { completionIn, promptIn, type RolloutFormat } from "./format.js";

const scores = ["reward", "score"];
const speakers: Readonly<Record<string, string>> = {
  human: "user",
  gpt: "assistant",
  function_call: "assistant",
  observation: "tool",
};

/** ShareGPT's names of the same things. */
function conversation(record: FileRecord): unknown {
  if (!Array.isArray(record["conversations"])) return record["messages"];
  return record["conversations"].map((turn: unknown) => {
    if (!isRecord(turn) || !("from" in turn)) return turn;
    const from = String(turn["from"]);
    return { role: speakers[from] ?? from, content: turn["value"] };
  });
}

/** What a log says of a trajectory beside its messages. */
function besides(record: FileRecord, context: { step?: number; scoreColumns?: readonly string[] }) {
  const columns =
    context.scoreColumns ??
    scores.filter((name) => numberIn(record[name]) !== undefined).slice(0, 1);
  const score =
    columns.length === 0
      ? undefined
      : columns.reduce((sum, name) => sum + (numberIn(record[name]) ?? 0), 0);
  const step = numberIn(record["step"]) ?? context.step;
  const groundTruth = truthIn(record["answer"] ?? record["ground_truth"]);
  const { id, group_id: group } = record;
  const numbers = isRecord(record["metrics"]) ? numbersIn(record["metrics"]) : {};
  const extra = withoutFields(record, [
    "messages",
    "conversations",
    "request",
    "response",
    "prompt",
    "completion",
    "tools",
  ]);
  return {
    ...(typeof group === "string" || typeof group === "number" ? { group: String(group) } : {}),
    ...defined({ step, score, groundTruth }),
    numbers,
    ...(extra === undefined ? {} : { extra: id === undefined ? extra : { ...extra, id } }),
  };
}

function rowOfChat(
  messages: readonly ChatMessage[],
): Pick<ImportedRow, "prompt" | "parts" | "messages"> {
  const first = messages.findIndex(({ role }) => role === "assistant");
  if (first < 0) throw new TypeError("messages must have one of the assistant's, got none");
  return {
    prompt: first === 0 ? "" : messages.slice(0, first),
    parts: [],
    messages: messages.slice(first),
  };
}

const ends: Readonly<Record<string, TrajectoryEnd>> = {
  stop: "answer",
  tool_calls: "answer",
  length: "length",
};

/** A request and what came back: a trajectory per choice. */
function exchange(record: FileRecord, context: { step?: number }): ImportedRow[] {
  const request = bodyOf(record["request"]);
  const response = bodyOf(record["response"]);
  const asked = chatOf(request["messages"] ?? record["messages"], "request.messages");
  const { choices, model = request["model"] } = response;
  if (!Array.isArray(choices)) {
    throw new TypeError(
      "response must have choices, content or output: requests that failed have none",
    );
  }
  return choices.filter(isRecord).map((choice): ImportedRow => {
    const said = chatOf([choice["message"]], "message");
    const { pieces, logprobs } = piecesOf(choice);
    const text = said[0]!.content;
    const whole = pieces !== undefined && pieces.join("") === text;
    const end = ends[String(choice["finish_reason"])];
    return {
      prompt: asked,
      ...(whole
        ? { parts: [{ by: "model", text, pieces, logprobs }] }
        : { parts: [], messages: said }),
      ...besides(record, context),
      ...defined({ end }),
      ...(typeof model === "string" ? { model } : {}),
    };
  });
}

/** Logs of chats as OpenAI's API has them: whole conversations, or requests with their responses. */
export const messageLogs: RolloutFormat = {
  name: "messages",
  title: "logs of chats, Responses and Messages",
  fits: (record) =>
    isChat(conversation(record)) ||
    (isRecord(record["response"]) && (isRecord(record["request"]) || isChat(record["messages"]))) ||
    ("prompt" in record && "completion" in record),
  joins: isBlockCall,
  together: (context) => new BlockCalls((record) => besides(record, context)),
  read: (record, context) => {
    if (isRecord(record["response"])) return { rows: exchange(record, context) };
    const messages = conversation(record);
    const row = isChat(messages)
      ? rowOfChat(chatOf(messages, "messages"))
      : { prompt: promptIn(record), ...completionIn(record) };
    return { rows: [{ ...row, ...besides(record, context) }] };
  },
  says: {
    "tool results": "messages of other roles than the assistant's",
    "log-probs": "logprobs.content of a response",
    rewards: "reward or score, where a log has one",
    "ground truth": "answer or ground_truth, where a log has one",
    "how trajectories ended": "finish_reason, stop_reason or status",
    steps: "step, where a log has one",
  },
};
