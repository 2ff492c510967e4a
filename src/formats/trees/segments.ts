import { defined } from "../../../common/options/defined.js";
import type { ChatMessage, ChatOptions, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { cutSupport, type Support } from "../../policy/token-sets.js";
import { encodeParts, plain } from "../../model/tokenizer/special-tokens.js";
import type { ImportedPart, TokenNumbers, ToolCall } from "../row/imported-row.js";
import { messageText } from "../row/message-text.js";

/** A word with the space before it, a run of other signs, or white space. */
const word = / ?[\p{L}\p{M}\p{N}_]+| ?[^\s\p{L}\p{M}\p{N}_]+|\s+/gu;

/**
 * Cuts text into words where no model's tokenizer is at hand: nothing to load, every text comes back as
 * it was, no text is a special token. Its numbers are those of the words in the order they came in, and
 * mean nothing to any model.
 */
export class WordTokenizer implements Tokenizer {
  readonly #words: string[] = [""];
  readonly #ids = new Map<string, number>([["", 0]]);
  readonly eosId = 0;
  readonly eosIds: readonly number[] = [];
  readonly padId = 0;

  get vocabSize(): number {
    return this.#words.length;
  }

  /** The ids of words that are given one by one. */
  idsOf(words: readonly string[]): number[] {
    return words.map((text) => {
      const known = this.#ids.get(text);
      if (known !== undefined) return known;
      const id = this.#words.push(text) - 1;
      this.#ids.set(text, id);
      return id;
    });
  }

  encode(text: string): number[] {
    return this.idsOf(text.match(word) ?? []);
  }

  decode(ids: ArrayLike<number>): string {
    return Array.from(ids, (id) => this.#words[id] ?? "").join("");
  }

  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    const told = messages.map((message) => `${message.role}:\n${messageText(message)}`);
    return [...told, ...(options.addGenerationPrompt ? ["assistant:\n"] : [])].join("\n\n");
  }
}

/** A part of a trajectory with its tokens. */
export interface Segment {
  kind: "model" | "tool";
  tokens: Int32Array;
  text: string;
  /**
   * Tokens made of its text; ids that a tokenizer reads, its text then following from them; or ids that
   * nobody here reads, with a text beside them.
   */
  source: "text" | "ids" | "apart";
  logprobs: Float32Array;
  entropies: Float32Array;
  advantages?: Float32Array;
  support?: Support;
  /** Of each token how many updates its policy had been through. */
  versions?: Int32Array;
  call?: ToolCall;
  /** The file's numbers are of tokens cut otherwise. */
  dropped?: boolean;
}

const floats = (values: TokenNumbers | undefined, length: number) =>
  values ? Float32Array.from(values, (value) => value ?? NaN) : new Float32Array(length).fill(NaN);

/** Ids for the texts of tokens, where the tokenizer cuts the text the same way. */
function idsOfPieces(pieces: readonly string[], text: string, tokenizer: Tokenizer) {
  if (tokenizer instanceof WordTokenizer) return tokenizer.idsOf(pieces);
  const ids = tokenizer.encode(text);
  const same =
    ids.length === pieces.length && ids.every((id, i) => tokenizer.decode([id]) === pieces[i]);
  return same ? ids : undefined;
}

/** A part with its tokens; undefined where it holds none. `readable`: the tokenizer knows the file's ids. */
export function segmentOf(
  part: ImportedPart,
  tokenizer: Tokenizer,
  readable: boolean,
): Segment | undefined {
  const { by: kind, call } = part;
  const made = (
    ids: readonly number[],
    text: string,
    source: Segment["source"],
    numbers: Pick<ImportedPart, "logprobs" | "entropies" | "advantages" | "support">,
  ): Segment | undefined => {
    if (ids.length === 0) return undefined;
    const written = kind === "model" ? ids.length : 0;
    return {
      ...{ kind, text, source, tokens: Int32Array.from(ids) },
      logprobs: floats(numbers.logprobs, written),
      entropies: floats(numbers.entropies, written),
      ...(numbers.advantages ? { advantages: floats(numbers.advantages, written) } : {}),
      ...defined({ call, support: numbers.support }),
    };
  };
  if (part.tokens) {
    return readable
      ? made(part.tokens, "", "ids", part)
      : made(part.tokens, part.text ?? "", "apart", part);
  }
  const text = part.text ?? "";
  const pieces = part.pieces && idsOfPieces(part.pieces, text, tokenizer);
  if (pieces) return made(pieces, text, "text", part);
  const ids = encodeParts(tokenizer, part.laid ?? [plain(text)]);
  const segment = made(ids, text, "text", {});
  return segment && part.pieces ? { ...segment, dropped: true } : segment;
}

/** How much two texts have in common at their beginnings. */
function commonText(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

/** A segment's beginning and its rest. */
export function cutSegment(
  segment: Segment,
  count: number,
  textLength: number,
): [head: Segment, tail: Segment] {
  const { call, support, ...rest } = segment;
  const piece = (from: number, to: number, text: string): Segment => ({
    ...rest,
    text,
    tokens: segment.tokens.slice(from, to),
    logprobs: segment.logprobs.slice(from, to),
    entropies: segment.entropies.slice(from, to),
    ...cutSupport({ support }, from, to),
    ...(segment.advantages ? { advantages: segment.advantages.slice(from, to) } : {}),
    ...(segment.versions ? { versions: segment.versions.slice(from, to) } : {}),
  });
  const { length } = segment.tokens;
  // A call is answered where its answer ends.
  const tail = piece(count, length, segment.text.slice(textLength));
  return [piece(0, count, segment.text.slice(0, textLength)), call ? { ...tail, call } : tail];
}

/**
 * Where two segments that begin with the same tokens part: the tokens they share, and how much text that
 * is. A character of several tokens is not cut: its tokens count as different.
 */
export function sharedBeginning(
  a: Segment,
  b: Segment,
  tokenizer: Tokenizer,
): { count: number; textLength: number } {
  const longest = Math.min(a.tokens.length, b.tokens.length);
  let count = 0;
  while (count < longest && a.tokens[count] === b.tokens[count]) count++;
  if (count === a.tokens.length) return { count, textLength: a.text.length };
  if (a.source === "ids") return { count, textLength: 0 };
  if (a.source === "apart") return { count, textLength: commonText(a.text, b.text) };
  for (let tries = 0; tries < 8 && count > 0; tries++, count--) {
    const text = tokenizer.decode(a.tokens.subarray(0, count), { skipSpecial: false });
    if (a.text.startsWith(text)) return { count, textLength: text.length };
  }
  return { count: 0, textLength: 0 };
}
