import { sha256 } from "#platform/sha256";
import { z } from "#zod";
import { AppendStore } from "../../tools/search/append-store.js";
import { isVerdict } from "./read-reply.js";

const entry = z.strictObject({ reply: z.string(), model: z.string(), sum: z.string() });
type Entry = z.infer<typeof entry>;

const digest = (...parts: readonly string[]) => sha256(JSON.stringify(parts));

/**
 * Verdicts on disk. Each is appended as soon as it is there, so a kill loses at most the one being
 * written; an entry that is not what this class wrote, or says nothing, is not believed.
 */
export class JudgeCache {
  readonly #store: AppendStore<unknown>;
  readonly #note: (line: string) => void;
  #distrusted = 0;

  constructor(path: string, note: (line: string) => void) {
    this.#store = new AppendStore(path);
    this.#note = note;
  }

  /** What identifies a question: everything that the judge's answer depends on. */
  static key(model: string, request: unknown): string {
    return digest("judge 1", model, JSON.stringify(request));
  }

  get(key: string, model: string): string | undefined {
    let stored: unknown;
    try {
      stored = this.#store.get(key);
    } catch {
      return this.#distrust();
    }
    if (stored === undefined) return undefined;
    const read = entry.safeParse(stored);
    if (!read.success || read.data.sum !== digest(key, model, read.data.reply)) {
      return this.#distrust();
    }
    return read.data.model === model && isVerdict(read.data.reply)
      ? read.data.reply
      : this.#distrust();
  }

  set(key: string, model: string, reply: string): void {
    const value: Entry = { reply, model, sum: digest(key, model, reply) };
    this.#store.set(key, value);
  }

  close(): void {
    const { damaged, path } = this.#store;
    if (damaged > 0) {
      this.#note(`judge: ${damaged} lines of ${path} could not be read and were left out`);
    }
    this.#store.close();
  }

  /** One line for all of them: the questions are asked again, which fixes the file. */
  #distrust(): undefined {
    if (this.#distrusted++ === 0) {
      this.#note(
        `judge: ${this.#store.path} holds verdicts that are not as they were written; those are asked again`,
      );
    }
    return undefined;
  }
}
