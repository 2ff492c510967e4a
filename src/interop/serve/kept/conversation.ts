import { defined } from "../../../../common/options/defined.js";
import { asObject } from "../../../tools/calls/dialects/json-call.js";
import type { RequestMessage } from "../schema/common.js";

/** A piece of what the model said: a thought, a text or a call. */
export interface Part {
  kind: "thought" | "text" | "call";
  /** What it says; the arguments of a call, as JSON. */
  text: string;
  /** The function that is called. */
  name?: string;
  /** The id by which a client returns it. */
  id?: string;
  /** The id by which a result names its call. */
  callId?: string;
}

/** One answer of the model in a conversation. */
export interface Turn {
  parts: Part[];
}

/** What a conversation consists of. */
export type Entry = RequestMessage | Turn;

export const isTurn = (entry: Entry): entry is Turn => "parts" in entry;

/** The parts of one kind. */
const textsOf = (parts: readonly Part[], kind: Part["kind"]) =>
  parts.filter((part) => part.kind === kind).map(({ text }) => text);

/** A turn as templates read it. */
export function messageOf({ parts }: Turn): RequestMessage {
  const thoughts = textsOf(parts, "thought").join("\n");
  const calls = parts.filter(({ kind }) => kind === "call");
  return {
    role: "assistant",
    content:
      (thoughts === "" ? "" : `<think>${thoughts}</think>`) + textsOf(parts, "text").join(""),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ callId, name = "", text }) => ({
            ...defined({ id: callId }),
            type: "function" as const,
            function: { name, arguments: text },
          })),
        }),
  };
}

/** What a turn says, so that turns that say the same have the same key. */
export function keyOf({ parts }: Turn): string {
  const calls = parts
    .filter(({ kind }) => kind === "call")
    .map(({ name, text }) => [name, asObject(text) ?? text]);
  return JSON.stringify([
    textsOf(parts, "thought").join("\n"),
    textsOf(parts, "text").join(""),
    calls,
  ]);
}
