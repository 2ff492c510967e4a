import {
  chatParts,
  joined,
  meant,
  plain,
  sliceParts,
} from "../../model/tokenizer/special-tokens.js";
import type { ChatMessage, ChatOptions, TextPart } from "../../model/tokenizer/tokenizer.js";
import type { CallDialect, WrittenCall } from "./dialects/definition.js";
import { dialectShown } from "./dialects/registry.js";

/** Calls as a chat template's model was trained to make them: a turn may hold several. */
export interface CallFormat {
  readonly name: string;
  /** The calls of a turn, in order; none where it is an answer. */
  parse(text: string): readonly WrittenCall[];
  /** What stands between the end of the turn that called and the next one: the template's own words. */
  tail(results: readonly { name: string; text: string }[]): string;
  /** The same in parts: special tokens are the template's own. Without it they are found around the results. */
  tailParts?(results: readonly { name: string; text: string }[]): readonly TextPart[];
}

/** A function as templates show it to a model. */
export interface FunctionDefinition {
  type: "function";
  function: { name: string; description: string; parameters: object };
}

/** What a format needs of a tokenizer. */
interface Template {
  readonly eosIds: readonly number[];
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string;
  chatParts?(messages: readonly ChatMessage[], options?: ChatOptions): readonly TextPart[];
  decode(ids: ArrayLike<number>, options?: { skipSpecial?: boolean }): string;
}

/** Whether a template shows functions is found by showing it one. */
export const exampleFunction: FunctionDefinition = {
  type: "function",
  function: { name: "example", description: "An example.", parameters: { type: "object" } },
};
const question: ChatMessage = { role: "user", content: "?" };

/** How a template's model writes calls; undefined where the template shows no tools. */
export function dialectOfTemplate(template: Pick<Template, "chat">): CallDialect | undefined {
  const shown = template.chat([question], { tools: [exampleFunction] });
  return shown === template.chat([question]) ? undefined : dialectShown(shown);
}

const refuse = (rule: string, got: string): never => {
  throw new RangeError(
    `Cannot call tools as the chat template does: ${rule}, got ${got}; use calls: "tags"`,
  );
};

/** Stands for the result of a call in a template's words: text that shows how they write it. */
const placeOf = (i: number) => ` \u27e6${i}"\u27e7 `;

/** How a template writes a result: as it is, without white space around it, or as JSON. */
const writings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text),
  (text) => text.trim(),
];

/** A template's words around results, in pieces: what stands before each result, and behind the last. */
interface Tail {
  pieces: readonly (readonly TextPart[])[];
  write: (text: string) => string;
}

/**
 * The words that a template puts behind a turn that called: around the results, and to the beginning of the next
 * turn. What the model wrote is never rendered: a canonical call stands in its place, and is cut off.
 */
function tailOf(
  template: Template,
  tools: readonly FunctionDefinition[],
  names: readonly string[],
): Tail {
  const calls = names.map((name, i) => ({
    id: `call_${i}`,
    type: "function",
    function: { name, arguments: {} },
  }));
  const asked: ChatMessage[] = [question, { role: "assistant", content: "", tool_calls: calls }];
  const answered = names.map((name, i): ChatMessage => {
    return { role: "tool", content: placeOf(i), name, tool_call_id: `call_${i}` };
  });
  const before = joined(chatParts(template, asked, { tools }));
  const laid = chatParts(template, [...asked, ...answered], { tools, addGenerationPrompt: true });
  const whole = joined(laid);
  // The model's turn ends with an end token; what the template writes behind it, the model never does.
  const ends = template.eosIds.map((id) => template.decode([id], { skipSpecial: false }));
  const end = Math.max(
    ...ends.map((text) => (before.includes(text) ? before.lastIndexOf(text) + text.length : -1)),
  );
  if (end < 0) refuse("its turns must end with an end token", ends.join(", "));
  if (!whole.startsWith(before.slice(0, end))) {
    refuse(
      "results must leave what stands before them as it is",
      JSON.stringify(whole.slice(0, 80)),
    );
  }
  const tail = whole.slice(end);
  for (const write of writings) {
    const pieces: TextPart[][] = [];
    let at = 0;
    for (const i of names.keys()) {
      const place = write(placeOf(i));
      const from = tail.indexOf(place, at);
      if (from < 0) break;
      pieces.push(sliceParts(laid, end + at, end + from));
      at = from + place.length;
    }
    if (pieces.length === names.length) {
      return { pieces: [...pieces, sliceParts(laid, end + at)], write };
    }
  }
  return refuse(
    `it must show the results of ${names.length} calls`,
    JSON.stringify(tail.slice(0, 80)),
  );
}

/** A dialect with a template's words around results. */
export function callFormat(
  dialect: CallDialect,
  template: Template,
  tools: readonly FunctionDefinition[],
): CallFormat {
  const known = new Map<string, Tail>();
  const tailParts: CallFormat["tailParts"] = (results) => {
    const names = results.map((result) => result.name);
    const key = JSON.stringify(names);
    const { pieces, write } = known.get(key) ?? tailOf(template, tools, names);
    known.set(key, { pieces, write });
    return pieces.flatMap((piece, i) => [
      ...piece,
      ...(results[i] ? [plain(write(results[i].text))] : []),
    ]);
  };
  return {
    name: dialect.name,
    parse: (text) => dialect.read(text, tools),
    tail: (results) => joined(tailParts(results)),
    tailParts,
  };
}

/** The tail of a format, results apart from the words around them. */
export function tailPartsOf(
  format: CallFormat,
  results: readonly { name: string; text: string }[],
): readonly TextPart[] {
  if (format.tailParts) return format.tailParts(results);
  // A caller's own format gives text alone.
  const tail = format.tail(results);
  const parts: TextPart[] = [];
  let at = 0;
  for (const { text } of results) {
    const found = writings
      .map((write) => write(text))
      .filter((written) => written !== "" && tail.includes(written, at))
      .sort((a, b) => b.length - a.length)[0];
    if (found === undefined) continue;
    const from = tail.indexOf(found, at);
    parts.push(meant(tail.slice(at, from)), plain(found));
    at = from + found.length;
  }
  return [...parts, meant(tail.slice(at))];
}

/** The input of a tool for the arguments of a call: a single text as it is, others as JSON. */
export function inputOf(args: Readonly<Record<string, unknown>>): string {
  const values = Object.values(args);
  return values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(args);
}
