/** How a tokenizer cuts text into words before it merges: each pattern cuts what the last one left. */
export interface PreTokenizer {
  readonly patterns: readonly string[];
  /** Words that are tokens are taken whole, without merging. */
  readonly wholeWords?: boolean;
  /** A prompt begins with the start token unless the file says otherwise. */
  readonly addsStart?: boolean;
}

const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const modern = (digits: string) =>
  `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

const byTwo = (names: readonly string[], way: PreTokenizer) =>
  names.map((name) => [name, way] as const);

/** The ways of llama.cpp by the names files give them; the first name of a way is the one written. */
export const preTokenizers: ReadonlyMap<string, PreTokenizer> = new Map([
  ...byTwo(["qwen2", "deepseek-r1-qwen"], { patterns: [modern("\\p{N}")] }),
  ...byTwo(["llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"], {
    patterns: [modern("\\p{N}{1,3}")],
    wholeWords: true,
    addsStart: true,
  }),
  ...byTwo(["dbrx", "smaug-bpe"], { patterns: [modern("\\p{N}{1,3}")] }),
  ...byTwo(["smollm", "starcoder", "refact", "command-r", "codeshell"], {
    patterns: ["\\p{N}", gpt2],
  }),
  ...byTwo(["gpt-2", "phi-2", "mpt", "olmo", "jais"], { patterns: [gpt2] }),
  ["default", { patterns: ["[\\p{P}\\$\\+<=>\\^~\\|]+", gpt2, "\\p{N}+", "[0-9][0-9][0-9]"] }],
]);

// What a token of a GGUF file is, by its number there.

/** Ordinary text. */
export const normal = 1;
/** A special token: decoding can leave it out. */
export const control = 3;
/** A whole piece that is ordinary text, such as a tag around a tool call. */
export const userDefined = 4;
/** What stands for a piece that is none. */
export const unknown = 2;
/** An id that no text gives. */
export const unused = 5;
/** A byte, written as `<0x0A>`. */
export const byte = 6;
