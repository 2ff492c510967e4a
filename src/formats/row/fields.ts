import { defined } from "../../../common/options/defined.js";
import { isTooDeep } from "../../../common/http-server/nesting.js";
import { shown } from "../../../common/options/check-arguments.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { isRecord } from "../../../common/options/is-record.js";
import { withoutBlocks } from "./message-blocks.js";

/** A record of a file: one line of JSON lines, or one row of a table. */
export type FileRecord = Readonly<Record<string, unknown>>;

/** A field that must be text. */
export function textOf(record: FileRecord, name: string): string {
  const value = record[name];
  if (typeof value === "string") return value;
  throw new TypeError(`${name} must be text, got ${shown(value)}`);
}

/** JSON within a text; undefined where it is none, or deeper than any record may be. */
export function jsonIn(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** A field that must be a list. */
export function listOf(record: FileRecord, name: string): readonly unknown[] {
  const value = record[name];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new TypeError(`${name} must be a list, got ${shown(value)}`);
}

/** A field that must be a list of token ids. */
export function idsOf(record: FileRecord, name: string): readonly number[] {
  const list = listOf(record, name);
  const odd = list.find((id) => !Number.isSafeInteger(id) || (id as number) < 0);
  if (odd === undefined) return list as readonly number[];
  throw new TypeError(`${name} must be a list of token ids, got ${shown(odd)} in it`);
}

/** A field with a number for each of `count` tokens, or nothing where it is not there or empty. */
export function numbersPerToken(
  record: FileRecord,
  name: string,
  count: number,
): readonly (number | null)[] | undefined {
  if (record[name] === undefined || record[name] === null) return undefined;
  const list = listOf(record, name);
  if (list.length === 0 && count > 0) return undefined;
  if (list.length !== count) {
    throw new RangeError(
      `${name} must have a number for each of ${count} tokens, got ${list.length}`,
    );
  }
  return list.map((value) => (typeof value === "number" ? value : null));
}

/** A number, or nothing where there is none: frameworks write null where nothing was scored. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The oldest of some weights' versions; nothing where none is a count. */
export function oldestOf(versions: readonly unknown[]): number | undefined {
  const counts = versions.map(Number).filter((v) => Number.isSafeInteger(v) && v >= 0);
  if (counts.length === 0 || counts.length < versions.length) return undefined;
  return counts.reduce((a, b) => Math.min(a, b));
}

/** The numbers among some fields. */
export function numbersIn(
  record: FileRecord,
  names: readonly string[] = Object.keys(record),
): Record<string, number> {
  const found = names.flatMap((name) => {
    const value = numberIn(record[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** The record without some of its fields; undefined where nothing is left. */
export function withoutFields(
  record: FileRecord,
  known: readonly string[],
): Record<string, unknown> | undefined {
  const rest = Object.entries(record).filter(
    ([name, value]) => !known.includes(name) && value !== null && value !== undefined,
  );
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** A right answer, or several; numbers become text, what is neither becomes JSON. */
export function truthIn(value: unknown): string | readonly string[] | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const one = (item: unknown) => (typeof item === "string" ? item : JSON.stringify(item));
  if (!Array.isArray(value)) return one(value);
  return value.length === 0 ? undefined : value.map(one);
}

/** Whether a value is a chat: a list of messages, each with a role. */
export function isChat(value: unknown): value is readonly FileRecord[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((message) => isRecord(message) && typeof message["role"] === "string")
  );
}

/** A message's content: text, or nothing. */
function contentOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw new TypeError(`content must be text or a list of parts, got ${shown(value)}`);
}

/** A call of an assistant's message, whichever way it is written. */
function callOf(value: unknown): { id?: string; name: string; arguments: unknown } {
  let call = value;
  if (typeof call === "string") {
    call = jsonIn(call);
    if (call === undefined)
      throw new TypeError(`tool_calls must be objects or JSON, got ${shown(value)}`);
  }
  if (!isRecord(call)) throw new TypeError(`tool_calls must be objects, got ${shown(value)}`);
  const made = isRecord(call["function"]) ? call["function"] : call;
  let given = made["arguments"];
  // Arguments that are not JSON are what the model wrote.
  const parsed = typeof given === "string" ? jsonIn(given) : undefined;
  if (parsed !== undefined) given = parsed;
  return {
    ...(typeof call["id"] === "string" ? { id: call["id"] } : {}),
    name: typeof made["name"] === "string" ? made["name"] : "tool",
    arguments: given ?? {},
  };
}

/** A message as chat templates read it; reasoning that stands apart joins the content. */
function messageOf(message: FileRecord): ChatMessage {
  const role = textOf(message, "role");
  let content = contentOf(message["content"]);
  const thought = message["reasoning_content"] ?? message["thinking"];
  if (typeof thought === "string" && thought !== "") {
    content = `<think>\n${thought}\n</think>\n\n${content}`;
  }
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].map(callOf) : [];
  return {
    role,
    content,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, ...made }) => ({
            ...defined({ id }),
            type: "function",
            function: made,
          })),
        }),
    ...(typeof message["tool_call_id"] === "string"
      ? { tool_call_id: message["tool_call_id"] }
      : {}),
    ...(typeof message["name"] === "string" ? { name: message["name"] } : {}),
  };
}

/** A list of messages, or text, which becomes one message of a role. */
export function chatOf(value: unknown, name: string): ChatMessage[] {
  if (isChat(value)) return value.flatMap(withoutBlocks).map(messageOf);
  throw new TypeError(`${name} must be a list of messages with a role, got ${shown(value)}`);
}
