import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  anyNumber,
  checkOptions,
  integer,
  type OptionRules,
  required,
  texts as textList,
} from "../../../common/options/check-options.js";
import { chatMl } from "./chat-template.js";
import { createEngine, type TokenizerFiles } from "./tokenizer-files.js";

/** A pair waiting in the queue with the count it had when it was put there. */
interface Waiting {
  left: number;
  right: number;
  count: number;
}

/** More frequent first; among equals the pair of older pieces. */
const before = (a: Waiting, b: Waiting) =>
  a.count !== b.count ? a.count > b.count : a.left !== b.left ? a.left < b.left : a.right < b.right;

/** A binary heap. */
class Queue {
  readonly #items: Waiting[] = [];

  push(item: Waiting): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): Waiting | undefined {
    const items = this.#items;
    const first = items[0];
    const item = items.pop();
    if (item === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++;
      if (!before(items[child]!, item)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
    return first;
  }
}

const shift = 2 ** 24;

/**
 * Learns byte-pair merges: joins the most frequent adjacent pair of pieces until `pieces` has
 * `size` entries or no pair is frequent enough. Counts are kept up to date only where a merge changed
 * something, so time goes with the changes and not with merges x words.
 *
 * `words` (as ids into `pieces`) and `pieces` are changed.
 */
function learnMerges(
  words: readonly { ids: number[]; count: number }[],
  pieces: string[],
  size: number,
  minFrequency: number,
): [string, string][] {
  const idOf = new Map(pieces.map((piece, id) => [piece, id]));
  const counts = new Map<number, number>();
  const places = new Map<number, Set<number>>();
  const count = (left: number, right: number, change: number, word: number) => {
    const key = left * shift + right;
    counts.set(key, (counts.get(key) ?? 0) + change);
    if (change < 0) return;
    const where = places.get(key);
    if (where) where.add(word);
    else places.set(key, new Set([word]));
  };
  for (const [w, { ids, count: times }] of words.entries()) {
    for (let i = 1; i < ids.length; i++) count(ids[i - 1]!, ids[i]!, times, w);
  }
  const queue = new Queue();
  for (const [key, total] of counts) {
    queue.push({ left: Math.floor(key / shift), right: key % shift, count: total });
  }

  const merges: [string, string][] = [];
  while (pieces.length < size) {
    const best = queue.pop();
    if (best === undefined) break;
    const { left, right } = best;
    const key = left * shift + right;
    const now = counts.get(key)!;
    if (now !== best.count) {
      if (now > 0) queue.push({ left, right, count: now }); // it fell since it was put there
      continue;
    }
    if (now < minFrequency) break;
    const joined = pieces[left]! + pieces[right]!;
    let id = idOf.get(joined); // two merges may spell the same piece
    if (id === undefined) {
      id = pieces.length;
      pieces.push(joined);
      idOf.set(joined, id);
    }
    merges.push([pieces[left]!, pieces[right]!]);

    const grown = new Set<number>();
    for (const w of places.get(key)!) {
      const { ids, count: times } = words[w]!;
      for (let i = 0; i + 1 < ids.length; i++) {
        if (ids[i] !== left || ids[i + 1] !== right) continue;
        if (i > 0) {
          count(ids[i - 1]!, left, -times, w);
          count(ids[i - 1]!, id, times, w);
          grown.add(ids[i - 1]! * shift + id);
        }
        if (i + 2 < ids.length) {
          count(right, ids[i + 2]!, -times, w);
          count(id, ids[i + 2]!, times, w);
          grown.add(id * shift + ids[i + 2]!);
        }
        ids.splice(i, 2, id);
      }
    }
    counts.set(key, 0);
    places.delete(key);
    for (const pair of grown) {
      const total = counts.get(pair)!;
      if (total > 0) {
        queue.push({ left: Math.floor(pair / shift), right: pair % shift, count: total });
      }
    }
  }
  return merges;
}

/** How a tokenizer is trained. */
export interface TrainBpeOptions {
  /** Entries wanted: 256 bytes, the merges, the special and the added tokens. */
  vocabSize: number;
  /** Tokens that decoding can leave out. Default: ChatML's three. */
  specialTokens?: readonly string[];
  /** Whole pieces that are ordinary text, such as the tags around a tool call. */
  addedTokens?: readonly string[];
  /** Default: `<|im_end|>` where it is a special token, else the last of them. */
  eosToken?: string;
  /** Default: the first special token. */
  padToken?: string;
  /** The longest run of digits in one piece; Qwen's is 1, Llama's is 3. */
  maxDigits?: number;
  /** A pair must occur this often to be merged. */
  minFrequency?: number;
  chatTemplate?: string;
}

const rules: OptionRules<TrainBpeOptions> = {
  vocabSize: required(anyNumber),
  specialTokens: textList,
  addedTokens: textList,
  eosToken: "text?",
  padToken: "text?",
  maxDigits: { ...integer(1), must: "a positive integer" },
  minFrequency: anyNumber,
  chatTemplate: "text?",
};

/** The character a byte is written as in a byte-level vocabulary: GPT-2's table. */
function byteCharacters(): string[] {
  let moved = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(printable ? byte : 256 + moved++);
  });
}

function splitPattern(maxDigits: number): string {
  const digits = maxDigits === 1 ? "\\p{N}" : `\\p{N}{1,${maxDigits}}`;
  return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
}

/**
 * Trains a byte-level BPE tokenizer with Qwen's splitting of text into words. Every text encodes and
 * decodes back exactly; the same texts give the same tokenizer.
 */
export function trainBpe(texts: Iterable<string>, options: TrainBpeOptions): TokenizerFiles {
  checkArguments("train a tokenizer", { texts }, { texts: "items" });
  checkOptions("train a tokenizer", options, rules);
  const {
    vocabSize,
    specialTokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    addedTokens = [],
    maxDigits = 1,
    minFrequency = 2,
    chatTemplate = chatMl,
  } = options;
  const refuse = (rule: string, got: unknown): never => {
    throw new RangeError(`Cannot train a tokenizer: ${rule}, got ${String(got)}`);
  };
  const extra = [...specialTokens, ...addedTokens];
  if (!Number.isSafeInteger(vocabSize) || vocabSize < 256 + extra.length) {
    refuse(
      `vocabSize must be at least ${256 + extra.length} (256 bytes and the tokens)`,
      vocabSize,
    );
  }
  if (specialTokens.length === 0) refuse("there must be a special token to end with", "none");
  const repeated = extra.find((token, i) => token === "" || extra.indexOf(token) !== i);
  if (repeated !== undefined) {
    refuse("special and added tokens must differ and not be empty", JSON.stringify(repeated));
  }
  const { eosToken = extra.includes("<|im_end|>") ? "<|im_end|>" : specialTokens.at(-1)! } =
    options;
  const { padToken = specialTokens[0]! } = options;
  for (const token of [eosToken, padToken]) {
    if (!specialTokens.includes(token)) refuse("the end and padding tokens must be special", token);
  }

  const byteLevel = { add_prefix_space: false, trim_offsets: false, use_regex: false };
  const shell = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [] as object[],
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        {
          type: "Split",
          pattern: { Regex: splitPattern(maxDigits) },
          behavior: "Isolated",
          invert: false,
        },
        { type: "ByteLevel", ...byteLevel },
      ],
    },
    post_processor: { type: "ByteLevel", ...byteLevel },
    decoder: { type: "ByteLevel", ...byteLevel },
  };
  const bytes = byteCharacters().sort(); // GPT-2 numbers the bytes by their characters
  const vocab = Object.fromEntries(bytes.map((character, id) => [character, id]));

  // Words are counted as the encoder will see them: split by the same code, in byte characters.
  const splitter = createEngine(
    { ...shell, model: { type: "BPE", vocab, merges: [], ignore_merges: false } },
    {},
  ).pre_tokenizer!;
  const escape = (token: string) => token.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const longestFirst = [...extra].sort((a, b) => b.length - a.length);
  const whole = new RegExp(longestFirst.map(escape).join("|"), "u");
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const part of text.split(whole)) {
      if (part === "") continue;
      for (const word of splitter.pre_tokenize(part)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const words = [...counts].map(([word, count]) => ({
    ids: Array.from(word, (character) => vocab[character]!),
    count,
  }));
  const pieces = [...bytes];
  const merges = learnMerges(words, pieces, vocabSize - extra.length, minFrequency);

  const added = extra.map((text, i) => ({
    id: pieces.length + i,
    content: text,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: i < specialTokens.length,
  }));
  return {
    tokenizer: {
      ...shell,
      added_tokens: added,
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: "",
        end_of_word_suffix: "",
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
        merges,
      },
    },
    config: {
      added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [id, token])),
      additional_special_tokens: [...specialTokens],
      // A new model learns to call tools here, by tags.
      arpo_lab: { tags: true },
      bos_token: null,
      chat_template: chatTemplate,
      clean_up_tokenization_spaces: false,
      eos_token: eosToken,
      model_max_length: 131072,
      pad_token: padToken,
      tokenizer_class: "PreTrainedTokenizerFast",
      unk_token: null,
    },
  };
}
