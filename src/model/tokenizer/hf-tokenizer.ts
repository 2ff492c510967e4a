import { utf8Length } from "#platform/bytes";
import { existsSync, readFile } from "#platform/files";
import { join } from "#platform/path";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { GgufFile } from "../files/gguf/gguf-file.js";
import { isGguf } from "../files/gguf/is-gguf.js";
import { readGgufTokenizer } from "./gguf/read-tokenizer.js";
import { howToHave } from "../files/model-folder.js";
import { readJson } from "../files/read-file.js";
import { writeDurably } from "../../../common/files/durable.js";
import { parseGenerationConfig } from "../generation-config.js";
import { ChatTemplate } from "./chat-template.js";
import {
  callsByTags,
  createEngine,
  type Engine,
  templateOf,
  type TokenizerFiles,
} from "./tokenizer-files.js";
import { guardedChat, PlainEngine } from "./special-tokens.js";
import { addedTokens, pieceBytes } from "./token-bytes.js";
import type { ChatMessage, ChatOptions, TextPart, Tokenizer } from "./tokenizer.js";

type Json = Record<string, unknown>;

const specialNames = ["bos_token", "eos_token", "pad_token", "unk_token"];

/** A special token of tokenizer_config.json: a string, or an object with its content. */
function content(value: unknown): string | undefined {
  const text = typeof value === "object" ? (value as Json | null)?.content : value;
  return typeof text === "string" ? text : undefined;
}

/** How many ids may have no token: a vocabulary may have holes, and is walked through by id. */
const mostHoles = 65_536;

/** Refuses ids far beyond the vocabulary. */
function checkIds({ model, added_tokens: added }: Json): void {
  const { vocab } = (model ?? {}) as Json;
  const tokens = Array.isArray(added) ? (added as Partial<Json>[]) : [];
  const own = typeof vocab === "object" && vocab !== null ? vocab : {};
  const listed = Array.isArray(own) ? own.length : Object.keys(own).length;
  const limit = 2 * (listed + tokens.length) + mostHoles;
  const ids = [
    ...(Array.isArray(own) ? [] : Object.values(own)),
    ...tokens.flatMap((token) => token?.["id"] ?? []),
  ];
  const odd = ids.find(
    (id) => !(Number.isInteger(id) && (id as number) >= 0 && (id as number) < limit),
  );
  if (odd === undefined) return;
  throw new RangeError(
    `Cannot load a tokenizer: ids in tokenizer.json must be whole numbers below ${limit} with ${listed + tokens.length} tokens, got ${shown(odd)}`,
  );
}

/**
 * A Hugging Face tokenizer: `tokenizer.json` run by `@huggingface/tokenizers`, the chat template by
 * `@huggingface/jinja`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { HfTokenizer } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * assert.equal(tokenizer.decode(tokenizer.encode("lower 🙂")), "lower 🙂");
 * assert.deepEqual(tokenizer.encode("<|im_end|>"), [tokenizer.eosId]);
 * ```
 */
export class HfTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly eosId: number;
  readonly eosIds: readonly number[];
  readonly padId: number;
  readonly longestToken: number;
  readonly #files: TokenizerFiles;
  readonly #engine: Engine;
  readonly #plain: PlainEngine;
  readonly #template: ChatTemplate | undefined;
  readonly #pieces: ReadonlyMap<number, string>;
  readonly #byteLevel: boolean;
  #added: ReadonlyMap<string, boolean> | undefined;

  /** @param files the content of the tokenizer's files */
  constructor(files: TokenizerFiles) {
    checkArguments(
      "load a tokenizer",
      { files },
      { files: { tokenizer: "object", config: "object" } },
    );
    this.#files = files;
    const { tokenizer, config } = files;
    checkIds(tokenizer);
    // SentencePiece writes bytes as <0x0A>, and all else as it is.
    this.#byteLevel = (tokenizer["model"] as Json | undefined)?.["byte_fallback"] !== true;
    try {
      this.#engine = createEngine({ added_tokens: [], ...tokenizer }, config);
    } catch (error) {
      throw new SyntaxError(
        `Cannot load a tokenizer: tokenizer.json must describe one, got ${(error as Error).message}`,
        { cause: error },
      );
    }
    // Ids that nothing was given to leave holes.
    const pieces = [...this.#engine.get_vocab()]
      .map(([piece, id]) => [id, piece] as const)
      .filter(([, piece]) => piece !== undefined);
    this.#pieces = new Map(pieces);
    this.vocabSize = this.#pieces.size;
    // A piece is written in at least as many bytes as it stands for.
    this.longestToken = pieces.reduce((most, [, piece]) => Math.max(most, utf8Length(piece)), 1);

    const specials: Record<string, string> = {};
    for (const name of specialNames) {
      const token = content(config[name]);
      if (token !== undefined) specials[name] = token;
    }
    const idOf = (name: string): number | undefined => {
      const token = specials[name];
      if (token === undefined) return undefined;
      const id = this.#engine.token_to_id(token);
      if (id !== undefined) return id;
      throw new RangeError(
        `Cannot load a tokenizer: ${name} must be in its vocabulary, got ${JSON.stringify(token)}`,
      );
    };
    const own = idOf("eos_token");
    this.eosIds = [...new Set([...(own === undefined ? [] : [own]), ...(files.eosIds ?? [])])];
    if (this.eosIds.length === 0) {
      throw new RangeError(
        "Cannot load a tokenizer: tokenizer_config.json or generation_config.json must name an end token, got none",
      );
    }
    for (const id of this.eosIds) {
      if (!this.#pieces.has(id)) {
        throw new RangeError(
          `Cannot load a tokenizer: an end token must be one of the vocabulary's ${this.vocabSize}, got ${id}`,
        );
      }
    }
    this.eosId = this.eosIds[0]!;
    this.padId = idOf("pad_token") ?? this.eosId;
    const named = specialNames.map(idOf).filter((id) => id !== undefined);
    this.#plain = new PlainEngine(this.#engine, [...this.eosIds, ...named]);

    const template = templateOf(files);
    if (template !== undefined) this.#template = new ChatTemplate(template, specials);
  }

  /** What it was made of. */
  get files(): TokenizerFiles {
    return this.#files;
  }

  /** Whether its model was trained to call tools by tags: `arpo_lab.tags` in `tokenizer_config.json`. */
  get knowsTags(): boolean {
    return callsByTags(this.#files);
  }

  /**
   * Reads the tokenizer of a Hugging Face model folder, or the one a `.gguf` file carries.
   * @param folder a model's folder or a `.gguf` file
   */
  static async load(folder: string): Promise<HfTokenizer> {
    checkArguments("load a tokenizer", { folder }, { folder: "path" });
    if (isGguf(folder)) {
      const file = await GgufFile.open(folder);
      await file.close(); // its header is all that is needed
      return new HfTokenizer(readGgufTokenizer(file));
    }
    if (!existsSync(folder)) {
      throw new RangeError(
        `Cannot load a model: ${folder} must be a folder with config.json and tokenizer.json or a .gguf file, got none; ${howToHave(folder)}`,
      );
    }
    const tokenizer = await readJson(join(folder, "tokenizer.json"), "load a tokenizer");
    const config = await readJson(join(folder, "tokenizer_config.json"), "load a tokenizer");
    const optional = async (name: string) =>
      readFile(join(folder, name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
    const chatTemplate = await optional("chat_template.jinja");
    let eosIds: number[] = [];
    for (const name of ["generation_config.json", "config.json"]) {
      if (eosIds.length > 0 || (await optional(name)) === undefined) continue;
      const json = await readJson(join(folder, name), "load a tokenizer");
      eosIds = parseGenerationConfig({ eos_token_id: json.eos_token_id }).eosIds;
    }
    return new HfTokenizer({ tokenizer, config, chatTemplate, eosIds });
  }

  /**
   * Writes `tokenizer.json`, `tokenizer_config.json` and, if there was one, the template's file.
   * @param folder the folder; it is created if needed
   */
  async save(folder: string): Promise<void> {
    const { tokenizer, config, chatTemplate } = this.#files;
    const files: [string, string][] = [
      ["tokenizer.json", JSON.stringify(tokenizer)],
      ["tokenizer_config.json", JSON.stringify(config, undefined, 2)],
    ];
    if (chatTemplate !== undefined) files.push(["chat_template.jinja", chatTemplate]);
    for (const [name, text] of files) {
      await writeDurably(join(folder, name), text);
    }
  }

  /** @param text the text to tokenize */
  encode(text: string): number[] {
    checkArguments("encode", { text }, { text: "text" });
    return text === "" ? [] : this.#engine.encode(text, { add_special_tokens: false }).ids;
  }

  /**
   * As `encode` of the parts' text, but special tokens are recognised only in parts that mean them.
   * @param parts the text in pieces
   */
  encodeParts(parts: readonly TextPart[]): number[] {
    checkArguments("encode", { parts }, { parts: "list" });
    return this.#plain.encode(parts);
  }

  /** @param ids token ids */
  decode(
    ids: ArrayLike<number>,
    options: {
      /** Leave special tokens out of the text. Default: false. */
      skipSpecial?: boolean;
    } = {},
  ): string {
    checkArguments("decode", { ids }, { ids: "list" });
    checkOptions("decode", options, { skipSpecial: "boolean?" });
    const list = Array.from(ids);
    for (const id of list) {
      if (this.#pieces.has(id)) continue;
      throw new RangeError(
        `Cannot decode: a token id must be one of the vocabulary's ${this.vocabSize}, got ${id}`,
      );
    }
    if (list.length === 0) return "";
    // Text is given back as it was written: tidying spaces would move what tools and rewards read.
    return this.#engine.decode(list, {
      skip_special_tokens: options.skipSpecial ?? false,
      clean_up_tokenization_spaces: false,
    });
  }

  /**
   * The bytes that a token adds to a text; undefined for special tokens and for ids that have none.
   * @param id a token id
   */
  bytesOf(id: number): Uint8Array | undefined {
    const piece = this.#pieces.get(id);
    if (piece === undefined || this.eosIds.includes(id)) return undefined;
    this.#added ??= addedTokens(this.#files);
    const isSpecial = this.#added.get(piece);
    if (isSpecial !== undefined) return isSpecial ? undefined : new TextEncoder().encode(piece);
    return pieceBytes(piece, this.#byteLevel);
  }

  /**
   * The prompt text of a chat in parts: only the template's own special tokens are meant.
   * @param messages the messages, in order
   */
  chatParts(messages: readonly ChatMessage[], options: ChatOptions = {}): readonly TextPart[] {
    return guardedChat(
      {
        special: this.#plain.special,
        source: this.#template?.source ?? "",
        render: (chat, how) => this.chat(chat, how),
      },
      messages,
      options,
    );
  }

  /** @param messages the messages, in order */
  chat(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    checkArguments("render a chat", { messages }, { messages: "list" });
    checkOptions("render a chat", options, {
      addGenerationPrompt: "boolean?",
      tools: "list?",
      variables: "object?",
    });
    if (!this.#template) {
      throw new RangeError(
        "Cannot render a chat: the tokenizer must have a chat template, got none in tokenizer_config.json and no chat_template.jinja; a task { prompt, raw: true } is read without one",
      );
    }
    return this.#template.render(messages, options);
  }
}

/** From here on its model is known to call tools by tags; what is saved says so too. */
export function trainedOnTags(tokenizer: Tokenizer): void {
  if (tokenizer instanceof HfTokenizer) tokenizer.files.config.arpo_lab = { tags: true };
}
