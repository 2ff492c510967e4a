import { shown } from "../../../../common/options/check-arguments.js";
import { defined } from "../../../../common/options/defined.js";
import { isRecord } from "../../../../common/options/is-record.js";
import { ApiError } from "../http/api-error.js";
import type { AnswerStore, KeptAnswer } from "../kept/answer-store.js";
import { type Entry, isTurn, type Part, type Turn } from "../kept/conversation.js";

type Item = Readonly<Record<string, unknown>>;

function refuse(param: string, message: string, code = "invalid_value"): never {
  throw new ApiError(400, message, { param, code });
}

function field(item: Item, name: string, param: string): string {
  const value = item[name];
  if (typeof value === "string") return value;
  return refuse(
    `${param}.${name}`,
    `Invalid type for '${param}.${name}': expected a string.`,
    value === undefined ? "missing_required_parameter" : "invalid_type",
  );
}

const own = (item: Item, name: string): string | undefined =>
  typeof item[name] === "string" ? item[name] : undefined;

const texts = ["input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"];

/** A text, or the texts of a list of parts. */
function textIn(value: unknown, param: string): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) {
    return refuse(param, `Invalid type for '${param}': expected a string or a list of parts.`);
  }
  return value
    .map((part: unknown, i) => {
      const at = `${param}[${i}]`;
      if (!isRecord(part)) return refuse(at, `Invalid type for '${at}': expected an object.`);
      const type = own(part, "type");
      if (type === undefined || !texts.includes(type)) {
        const got = type === undefined ? shown(part["type"]) : `'${type.slice(0, 40)}'`;
        return refuse(
          `${at}.type`,
          `'${at}.type' must be a text, got ${got}: the model reads text.`,
        );
      }
      return field(part, type === "refusal" ? "refusal" : "text", at);
    })
    .join("");
}

/** What becomes of an item: a part of the model's answer, or a message of the client. */
type Read = Part | Exclude<Entry, Turn>;

const isPart = (read: Read): read is Part => "kind" in read;

const readers: Readonly<Record<string, (item: Item, at: string, answers: AnswerStore) => Read>> = {
  message: (item, at) => {
    const role = field(item, "role", at);
    const text = textIn(item["content"], `${at}.content`);
    if (role === "assistant") return { kind: "text", text, ...defined({ id: own(item, "id") }) };
    if (role === "user" || role === "system" || role === "developer")
      return { role, content: text };
    return refuse(`${at}.role`, `'${at}.role' must be user, assistant, system or developer.`);
  },
  reasoning: (item, at) => {
    const secret = own(item, "encrypted_content");
    const id = own(item, "id") ?? (secret && Buffer.from(secret, "base64").toString());
    const said = item["summary"] ?? item["content"] ?? [];
    return { kind: "thought", text: textIn(said, `${at}.summary`), ...defined({ id }) };
  },
  function_call: (item, at) => ({
    ...{ kind: "call", name: field(item, "name", at), text: field(item, "arguments", at) },
    ...{ callId: field(item, "call_id", at), ...defined({ id: own(item, "id") }) },
  }),
  function_call_output: (item, at) => ({
    role: "tool",
    tool_call_id: field(item, "call_id", at),
    content: textIn(item["output"], `${at}.output`),
  }),
  item_reference: (item, at, answers) => {
    const id = field(item, "id", at);
    const found = answers.part(id);
    if (found) return { ...found.part };
    throw new ApiError(404, `Item with id '${id.slice(0, 80)}' not found.`, {
      param: at,
      code: "item_not_found",
    });
  },
};

/** The answer of ours that a part belongs to, by its ids. */
const answerOf = ({ id, callId }: Part, answers: AnswerStore): KeptAnswer | undefined =>
  (id === undefined ? undefined : answers.part(id)?.answer) ??
  (callId === undefined ? undefined : answers.part(callId)?.answer);

/** What an item without a type is: a message, or a reference. */
function untyped(item: Item): string {
  if ("role" in item) return "message";
  return Object.keys(item).every((name) => name === "id" || name === "type") && "id" in item
    ? "item_reference"
    : "";
}

/** A conversation with the items of a request behind it. */
export function entriesOf(
  input: string | readonly Item[],
  before: readonly Entry[],
  answers: AnswerStore,
): Entry[] {
  const entries: Entry[] = [...before];
  if (typeof input === "string") {
    entries.push({ role: "user", content: input });
    return entries;
  }
  const called = new Set(
    before.flatMap((one) => (isTurn(one) ? one.parts.map(({ callId }) => callId) : [])),
  );
  let turn: { parts: Part[]; answer?: KeptAnswer } | undefined;
  input.forEach((item, i) => {
    const at = `input[${i}]`;
    const type = own(item, "type") ?? untyped(item);
    const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
    if (!reader) {
      const known = Object.keys(readers).join(", ");
      return refuse(
        `${at}.type`,
        `'${at}.type' must be one of ${known}, got '${type.slice(0, 40)}'.`,
      );
    }
    const read = reader(item, at, answers);
    if (!isPart(read)) {
      if (read.role === "tool" && !called.has(read.tool_call_id ?? undefined)) {
        const id = String(read.tool_call_id).slice(0, 80);
        return refuse(at, `No tool call found for function call output with call_id ${id}.`);
      }
      entries.push(read);
      return;
    }
    const answer = answerOf(read, answers);
    const isLast = turn !== undefined && entries.at(-1) === turn;
    const isSame = turn !== undefined && answer !== undefined && turn.answer === answer;
    const isOther = turn?.answer !== undefined && answer !== undefined && turn.answer !== answer;
    if (!turn || !(isSame || (isLast && !isOther))) entries.push((turn = { parts: [] }));
    if (answer) turn.answer ??= answer;
    turn.parts.push(read);
    called.add(read.callId);
  });
  // What is kept with later answers are the parts alone.
  return entries.map((one) => (isTurn(one) ? { parts: one.parts } : one));
}
