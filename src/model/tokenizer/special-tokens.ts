import type { Engine } from "./tokenizer-files.js";
import type { ChatMessage, ChatOptions, TextPart, Tokenizer } from "./tokenizer.js";

// Which special tokens of a text are meant: a template's own, and never those in what a message or a tool says.

/** Text that others wrote: what looks like a special token in it is plain text. */
export const plain = (text: string): TextPart => ({ text, special: false });

/** Text of a template: its special tokens are meant. */
export const meant = (text: string): TextPart => ({ text, special: true });

/** The parts as one text. */
export const joined = (parts: readonly TextPart[]): string =>
  parts.map(({ text }) => text).join("");

/** The characters of some parts from one place to another. */
export function sliceParts(
  parts: readonly TextPart[],
  from: number,
  to: number = Infinity,
): TextPart[] {
  const out: TextPart[] = [];
  let at = 0;
  for (const { text, special } of parts) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece !== "") out.push({ text: piece, special });
    at += text.length;
  }
  return out;
}

/** The tokens of some parts, cut as those of their text; a special token is one where its part says so. */
export function encodeParts(tokenizer: Tokenizer, parts: readonly TextPart[]): number[] {
  const text = joined(parts);
  return tokenizer.encodeParts && parts.some(({ special }) => !special)
    ? tokenizer.encodeParts(parts)
    : tokenizer.encode(text);
}

/** The tokens of text that no template wrote. */
export const encodePlain = (tokenizer: Tokenizer, text: string): number[] =>
  encodeParts(tokenizer, [plain(text)]);

/** A chat as a template lays it out, in parts: special tokens are the template's own. */
export function chatParts(
  tokenizer: Pick<Tokenizer, "chat" | "chatParts">,
  messages: readonly ChatMessage[],
  options: ChatOptions = {},
): readonly TextPart[] {
  return tokenizer.chatParts?.(messages, options) ?? [meant(tokenizer.chat(messages, options))];
}

type Node = Map<string, Node> & { end?: boolean };

/** Finds special tokens in texts, whatever their number, as one reads: from the left, the longest first. */
export class SpecialTexts {
  readonly #root: Node = new Map();

  constructor(texts: Iterable<string>) {
    for (const text of texts) {
      let node = this.#root;
      for (let i = 0; i < text.length; i++) {
        const next: Node = node.get(text[i]!) ?? new Map<string, Node>();
        node.set(text[i]!, next);
        node = next;
      }
      if (text !== "") node.end = true;
    }
  }

  /** Where special tokens stand in a text, without overlaps. */
  *in(text: string): Generator<{ from: number; to: number }> {
    for (let from = 0; from < text.length; from++) {
      const { length } = this.#at(text, from);
      if (length === 0) continue;
      yield { from, to: from + length };
      from += length - 1;
    }
  }

  /** The places where a special token begins, or where one does that the text's end cuts off. */
  *beginnings(text: string): Generator<number> {
    for (let at = 0; at < text.length; at++) {
      const { length, isOpen } = this.#at(text, at);
      if (length > 0 || isOpen) yield at;
    }
  }

  /** The longest special token at a place, and whether the text ends within one. */
  #at(text: string, from: number): { length: number; isOpen: boolean } {
    let node: Node | undefined = this.#root;
    let length = 0;
    for (let i = from; i < text.length; i++) {
      node = node.get(text[i]!);
      if (!node) return { length, isOpen: false };
      if (node.end) length = i + 1 - from;
    }
    return { length, isOpen: node.size > 0 };
  }
}

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

/** What is read of the package's tokenizer: its added tokens, and how it cuts a text at them. */
interface Insides {
  readonly added_tokens: readonly AddedToken[];
  readonly added_tokens_map: ReadonlyMap<string, AddedToken>;
  readonly normalizer: ((text: string) => string) | null;
}

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  readonly normalized: boolean;
}

/** Written like the tokens that begin and end turns; some files do not say that these are special. */
const likeSpecial = /^<[|｜].*[|｜]>$/;

/** Cuts a text at words, which stay pieces of their own. */
const splitter = (words: readonly string[]) => {
  const found = new SpecialTexts(words);
  return {
    split(text: string): string[] {
      const pieces: string[] = [];
      let at = 0;
      for (const { from, to } of found.in(text)) {
        if (from > at) pieces.push(text.slice(at, from));
        pieces.push(text.slice(from, to));
        at = to;
      }
      if (at < text.length) pieces.push(text.slice(at));
      return pieces;
    },
  };
};

/**
 * Encodes texts in which only some special tokens are meant. It is the tokenizer itself with other names for its
 * special tokens: names of private-use characters, which the text does not hold. Meant tokens are written by these
 * names, and the rest of the text has no special tokens.
 */
export class PlainEngine {
  /** Special tokens as they are written. */
  readonly special: SpecialTexts;
  readonly #engine: Engine;
  readonly #tokens: ReadonlyMap<string, AddedToken>;

  /** `ends`: tokens that are special because they end or pad a text. */
  constructor(engine: Engine, ends: readonly number[]) {
    this.#engine = engine;
    const { added_tokens: added } = this.#insides;
    const special = added.filter(
      ({ id, content, special: told }) => told || ends.includes(id) || likeSpecial.test(content),
    );
    this.#tokens = new Map(special.map((token) => [token.content, token]));
    this.special = new SpecialTexts(this.#tokens.keys());
  }

  get #insides(): Insides {
    return this.#engine as unknown as Insides;
  }

  /** The tokens of a text in parts. */
  encode(parts: readonly TextPart[]): number[] {
    const text = joined(parts);
    const found = [...this.special.in(text)];
    const own = meantOf(parts, found);
    if (own.length === found.length) return this.#ids(this.#engine, text);
    const mark = unusedMark(text);
    const name = (token: string) => `${mark}${this.#tokens.get(token)!.id}${mark}`;
    let renamed = "";
    let at = 0;
    for (const { from, to } of own) {
      renamed += text.slice(at, from) + name(text.slice(from, to));
      at = to;
    }
    renamed += text.slice(at);
    return this.#ids(this.#renamed(name), renamed);
  }

  #ids(engine: Engine, text: string): number[] {
    return text === "" ? [] : engine.encode(text, { add_special_tokens: false }).ids;
  }

  /** The tokenizer with other names for its special tokens. */
  #renamed(name: (token: string) => string): Engine {
    const { added_tokens: added, added_tokens_map: map, normalizer } = this.#insides;
    const names = added.map((token) => ({
      token,
      name: this.#tokens.has(token.content) ? name(token.content) : token.content,
    }));
    const isLate = ({ token }: { token: AddedToken }) => token.normalized && normalizer !== null;
    const early = names.filter((one) => !isLate(one)).map((one) => one.name);
    const late = names.filter(isLate).map((one) => normalizer!(one.name));
    const ordinary = [...map].filter(([, token]) => !this.#tokens.has(token.content));
    const special = names.filter(({ token }) => this.#tokens.has(token.content));
    return Object.create(this.#engine, {
      added_tokens_map: {
        value: new Map([...ordinary, ...special.map((one) => [one.name, one.token] as const)]),
      },
      splitter_unnormalized: { value: splitter(early) },
      splitter_normalized: { value: splitter(late) },
    }) as Engine;
  }
}

/** The places that lie in parts that mean their special tokens; places and parts are read once, in order. */
function meantOf(
  parts: readonly TextPart[],
  places: readonly { from: number; to: number }[],
): { from: number; to: number }[] {
  let next = 0;
  let start = 0;
  let end = 0;
  let isMeant = true;
  return places.filter(({ from, to }) => {
    // `start` is where the last run of parts of one kind begins.
    for (; end < to && next < parts.length; next++) {
      const { text, special } = parts[next]!;
      if (special !== isMeant && text !== "") start = end;
      if (text !== "") isMeant = special;
      end += text.length;
    }
    return isMeant && start <= from;
  });
}

/** A private-use character that a text does not hold. */
function unusedMark(text: string): string {
  for (let code = 0xf0000; code < 0xffffe; code++) {
    const mark = String.fromCodePoint(code);
    if (!text.includes(mark)) return mark;
  }
  throw new RangeError("Cannot encode: a text must leave a private-use character free, got all");
}
