// Long texts and long chats become tokens and prompts on a thread of their own: whoever asks after the server's
// health, and whoever streams, has an answer meanwhile.
import { Worker } from "node:worker_threads";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { ChatMessage, ChatOptions, Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { ApiError } from "./http/api-error.js";

/** What the thread is asked for. */
export type TextTask = { encode: string } | { chat: readonly ChatMessage[]; options: ChatOptions };
/** What it says. */
export type TextDone = { id: number; value: number[] | string } | { id: number; failed: string };

interface Waiting {
  done(value: number[] | string): void;
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

  async encode(text: string): Promise<number[]> {
    if (text.length <= shortText || !(this.#tokenizer instanceof HfTokenizer)) {
      return this.#tokenizer.encode(text);
    }
    return (await this.#ask(this.#tokenizer, { encode: text })) as number[];
  }

  async chat(messages: readonly ChatMessage[], options: ChatOptions): Promise<string> {
    const size = messages.reduce((sum, { content }) => sum + content.length, 0);
    const isShort = size <= shortText && messages.length <= fewMessages;
    if (isShort || !(this.#tokenizer instanceof HfTokenizer)) {
      return this.#tokenizer.chat(messages, options);
    }
    return (await this.#ask(this.#tokenizer, { chat: messages, options })) as string;
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

  async #ask(tokenizer: HfTokenizer, task: TextTask): Promise<number[] | string> {
    const worker = (this.#worker ??= this.#start(tokenizer));
    const id = ++this.#last;
    const answered = new Promise<number[] | string>((done, failed) => {
      this.#waiting.set(id, { done, failed });
    });
    worker.postMessage({ id, ...task });
    return await answered;
  }
}
