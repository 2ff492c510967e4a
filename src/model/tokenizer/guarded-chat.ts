import type { SpecialTexts } from "./special-texts.js";
import { meant, plain } from "./text-parts.js";
import type { ChatMessage, ChatOptions, TextPart } from "./tokenizer.js";

/** Every text in a value, keys of objects too, written anew. */
function mapTexts<T>(value: T, write: (text: string) => string): T {
  if (typeof value === "string") return write(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, write)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [write(key), mapTexts(item as unknown, write)]),
  ) as T;
}

/** Private characters that stand in none of some texts. */
function* unusedCharacters(texts: readonly string[]): Generator<string> {
  for (let code = 0xe000; code < 0xf900; code++) {
    const character = String.fromCharCode(code);
    if (!texts.some((text) => text.includes(character))) yield character;
  }
  throw new RangeError(
    "Cannot render a chat: its messages must leave a private-use character free, got all of them",
  );
}

/** What a chat is laid out with. */
interface Layout {
  special: SpecialTexts;
  /** The template's own words. */
  source: string;
  render(messages: readonly ChatMessage[], options: ChatOptions): string;
}

/**
 * Lays out a chat so that special tokens in it are the template's own. While the template runs, a private-use
 * character stands for the first character of each special token that a message holds, and of the beginning of
 * one that a message ends with. That character is plain text afterwards.
 */
export function guardedChat(
  { special, source, render }: Layout,
  messages: readonly ChatMessage[],
  options: ChatOptions = {},
): TextPart[] {
  const { tools, variables, ...more } = options;
  const given = { messages, tools, variables };
  const texts = [source];
  let isOrdinary = true;
  mapTexts(given, (text) => {
    texts.push(text);
    isOrdinary &&= special.beginnings(text).next().done === true;
    return text;
  });
  if (isOrdinary) return [meant(render(messages, options))];
  const unused = unusedCharacters(texts);
  const standIns = new Map<string, string>();
  const written = new Map<string, string>();
  const standIn = (character: string): string => {
    const known = standIns.get(character);
    if (known !== undefined) return known;
    const fresh = unused.next().value as string;
    standIns.set(character, fresh);
    written.set(fresh, character);
    return fresh;
  };
  const guarded = mapTexts(given, (text) => {
    let out = "";
    let from = 0;
    for (const at of special.beginnings(text)) {
      out += text.slice(from, at) + standIn(text[at]!);
      from = at + 1;
    }
    return out + text.slice(from);
  });
  const laid = render(guarded.messages, {
    ...more,
    ...(guarded.tools ? { tools: guarded.tools } : {}),
    ...(guarded.variables ? { variables: guarded.variables } : {}),
  });
  return laid
    .split(new RegExp(`([${[...written.keys()].join("")}])`))
    .map((text, i) => (i % 2 === 0 ? meant(text) : plain(written.get(text)!)))
    .filter(({ text }) => text !== "");
}
