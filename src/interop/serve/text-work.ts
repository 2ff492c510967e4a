// Long texts and long chats become tokens and prompts on a thread of their own: whoever asks after the server's
// health, and whoever streams, has an answer meanwhile.
import { Worker } from "node:worker_threads";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { chatParts, encodeParts, joined, meant } from "../../model/tokenizer/special-tokens.js";
import type {
  ChatMessage,
  ChatOptions,
  TextPart,
  Tokenizer,
} from "../../model/tokenizer/tokenizer.js";
import { ApiError } from "./http/api-error.js";

/** What the thread is asked for. */
export type TextTask =
  { encode: readonly TextPart[] } | { chat: readonly ChatMessage[]; options: ChatOptions };
/** What it says. */
/** Tokens, or a prompt in parts. */
export type TextValue = number[] | readonly TextPart[];
export type TextDone = { id: number; value: TextValue } | { id: number; failed: string };

interface Waiting {
  done(value: TextValue): void;
  failed(error: Error): void;
}

/** Shorter texts are done at once, in some milliseconds. */
const shortText = 16_384;
const fewMessages = 64;

/** Turns texts into tokens and chats into prompts, for one server. */
export class TextWork {
  readonly #tokenizer: Tokenizer;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Of a text that a client laid out special tokens are meant, and in parts where they say so. */
  async encode(text: string | readonly TextPart[]): Promise<number[]> {
    const parts = typeof text === "string" ? [meant(text)] : text;
    const { length } = joined(parts);
    if (length <= shortText || !(this.#tokenizer instanceof HfTokenizer)) {
      return encodeParts(this.#tokenizer, parts);
    }
    return (await this.#ask(this.#tokenizer, { encode: parts })) as number[];
  }

  /** A chat in parts: special tokens are the template's own. */
  async chatParts(
    messages: readonly ChatMessage[],
    options: ChatOptions,
  ): Promise<readonly TextPart[]> {
    const size = messages.reduce((sum, { content }) => sum + content.length, 0);
    const isShort = size <= shortText && messages.length <= fewMessages;
    if (isShort || !(this.#tokenizer instanceof HfTokenizer)) {
      return chatParts(this.#tokenizer, messages, options);
    }
    return (await this.#ask(this.#tokenizer, { chat: messages, options })) as TextPart[];
  }

  /** The same as one text. */
  async chat(messages: readonly ChatMessage[], options: ChatOptions): Promise<string> {
    return joined(await this.chatParts(messages, options));
  }

  /** Ends the thread; what was under way is refused. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(tokenizer: HfTokenizer): Worker {
    const worker = new Worker(new URL("./text-thread.js", import.meta.url), {
      workerData: tokenizer.files,
      name: "texts",
    });
    worker.unref();
    let why = "it was ended";
    worker.on("error", (error) => (why = error.message));
    worker.on("message", (said: TextDone) => {
      const waiting = this.#waiting.get(said.id);
      this.#waiting.delete(said.id);
      if ("failed" in said) waiting?.failed(new Error(said.failed));
      else waiting?.done(said.value);
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      const error = new ApiError(500, `The thread that reads texts ended: ${why}.`, {
        type: "server_error",
      });
      for (const waiting of this.#waiting.values()) waiting.failed(error);
      this.#waiting.clear();
    });
    return worker;
  }

  async #ask(tokenizer: HfTokenizer, task: TextTask): Promise<TextValue> {
    const worker = (this.#worker ??= this.#start(tokenizer));
    const id = ++this.#last;
    const answered = new Promise<TextValue>((done, failed) => {
      this.#waiting.set(id, { done, failed });
    });
    worker.postMessage({ id, ...task });
    return await answered;
  }
}
