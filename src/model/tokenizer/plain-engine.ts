import type * as Tokenizers from "@huggingface/tokenizers";
import { SpecialTexts } from "./special-texts.js";
import { joined } from "./text-parts.js";
import type { TextPart } from "./tokenizer.js";

type Engine = Tokenizers.Tokenizer;

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
