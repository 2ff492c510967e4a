import type { ToolCall } from "../tools/tool-format.js";
import type { Part } from "./conversation.js";
import { randomUUID } from "node:crypto";

/** An id as these interfaces have them: what it names, and 24 characters. */
export const freshId = (kind: string) => `${kind}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;

/** What is told of parts while they are written; the index is that of the part. */
export interface PartEvents {
  begun(part: Readonly<Part>, index: number): void;
  more(part: Readonly<Part>, index: number, text: string): void;
  /** `isLast`: the answer ends with it. */
  ended(part: Readonly<Part>, index: number, isLast: boolean): void;
}

const open = "<think>";
const close = "</think>";

/** How many characters at a text's end may begin a mark. */
function heldAt(text: string, mark: string): number {
  let most = Math.min(mark.length - 1, text.length);
  while (most > 0 && !text.endsWith(mark.slice(0, most))) most--;
  return most;
}

/** Reads parts off what a model says: a thought in `<think>` where it begins with one, a text, calls. */
export class PartReader {
  readonly parts: Part[] = [];
  /** Tokens that were pushed while the model was thinking. */
  thoughtTokens = 0;
  readonly #events: PartEvents;
  readonly #idsOf: (kind: Part["kind"]) => Pick<Part, "id" | "callId">;
  #state: "begins" | "thinks" | "speaks";
  #held = "";

  /** `prompt`: where it ends with `<think>`, the model begins in the middle of a thought. */
  constructor(
    prompt: string,
    idsOf: (kind: Part["kind"]) => Pick<Part, "id" | "callId">,
    events: PartEvents,
  ) {
    this.#idsOf = idsOf;
    this.#events = events;
    this.#state = prompt.trimEnd().endsWith(open) ? "thinks" : "begins";
  }

  /** Takes more of what is said, and how many tokens said it. */
  push(text: string, tokens = 0): void {
    const thought = this.#state === "thinks";
    this.#read(text);
    if (thought || this.#state === "thinks") this.thoughtTokens += tokens;
  }

  #read(text: string): void {
    if (this.#state === "speaks") {
      this.#say("text", text);
      return;
    }
    this.#held += text;
    if (this.#state === "begins") {
      const said = this.#held.trimStart();
      if (said.startsWith(open)) {
        this.#held = said.slice(open.length);
        this.#state = "thinks";
      } else if (!open.startsWith(said) || this.#held.length > 1000) {
        this.#speak(this.#held);
        return;
      }
    }
    if (this.#state !== "thinks") return;
    const end = this.#held.indexOf(close);
    if (end >= 0) {
      this.#say("thought", this.#held.slice(0, end));
      this.#speak(this.#held.slice(end + close.length));
      return;
    }
    const certain = this.#held.length - heldAt(this.#held, close);
    this.#say("thought", this.#held.slice(0, certain));
    this.#held = this.#held.slice(certain);
  }

  /** Nothing more is said but these calls. */
  end(calls: readonly ToolCall[]): readonly Part[] {
    if (this.#held !== "") this.#say(this.#state === "thinks" ? "thought" : "text", this.#held);
    this.#held = "";
    this.#endLast(calls.length === 0);
    for (const [i, { name, arguments: text }] of calls.entries()) {
      const part: Part = { kind: "call", text, name, ...this.#idsOf("call") };
      const index = this.parts.push(part) - 1;
      this.#events.begun(part, index);
      this.#events.more(part, index, text);
      this.#events.ended(part, index, i === calls.length - 1);
    }
    return this.parts;
  }

  #speak(text: string): void {
    this.#held = "";
    this.#state = "speaks";
    this.#say("text", text);
  }

  #say(kind: "thought" | "text", text: string): void {
    if (text === "") return;
    let part = this.parts.at(-1);
    if (part?.kind !== kind) {
      this.#endLast();
      part = { kind, text: "", ...this.#idsOf(kind) };
      this.parts.push(part);
      this.#events.begun(part, this.parts.length - 1);
    }
    part.text += text;
    this.#events.more(part, this.parts.length - 1, text);
  }

  #endLast(isLast = false): void {
    const part = this.parts.at(-1);
    if (part) this.#events.ended(part, this.parts.length - 1, isLast);
  }
}
