import { type Entry, keyOf, type Part, type Turn } from "./conversation.js";
import { createHash } from "node:crypto";

/** An answer that was given, with what it was given to. */
export interface KeptAnswer {
  id: string;
  /** The conversation before it. */
  before: readonly Entry[];
  turn: Turn;
  /** Ids that the model read, and those that it sampled. */
  prompt: Int32Array;
  tokens: Int32Array;
  /** What later requests of a thread leave out. */
  settings?: Record<string, unknown>;
}

interface Held {
  answer: KeptAnswer;
  key: string;
  names: readonly string[];
  bytes: number;
}

const mostAnswers = 1000;
const mostBytes = 64 * 2 ** 20;

/**
 * Answers by the ids that their clients were given, so that these ids, and parts that come back as they were, become
 * the tokens that were sampled. The oldest answers leave when there are more than 1,000 or 64 MB.
 */
export class AnswerStore {
  /** In the order in which they came. */
  readonly #held = new Map<string, Held>();
  readonly #parts = new Map<string, { part: Part; answer: KeptAnswer }>();
  readonly #alike = new Map<string, Set<KeptAnswer>>();
  #bytes = 0;

  add(answer: KeptAnswer): void {
    const key = digest(answer.turn);
    const { parts } = answer.turn;
    const names = parts.flatMap(({ id, callId }) =>
      [id, callId].filter((name) => name !== undefined),
    );
    const lists = 4 * (answer.prompt.length + answer.tokens.length) + 8 * answer.before.length;
    // Entries are shared with the answers before, all but the last ones.
    const texts = JSON.stringify([answer.before.slice(-2), parts, answer.settings]).length;
    const held = { answer, key, names, bytes: lists + 2 * texts + 1024 };
    this.#held.set(answer.id, held);
    for (const part of parts) {
      for (const name of [part.id, part.callId]) {
        if (name !== undefined) this.#parts.set(name, { part, answer });
      }
    }
    const alike = this.#alike.get(key) ?? new Set();
    this.#alike.set(key, alike.add(answer));
    this.#bytes += held.bytes;
    for (const [id, oldest] of this.#held) {
      if (this.#held.size <= mostAnswers && this.#bytes <= mostBytes) break;
      this.#forget(id, oldest);
    }
  }

  get(id: string): KeptAnswer | undefined {
    return this.#held.get(id)?.answer;
  }

  /** A part by its id, or by the id of its call. */
  part(id: string): { part: Part; answer: KeptAnswer } | undefined {
    return this.#parts.get(id);
  }

  /** Answers that say what a turn says; first those whose ids it has, then the latest. */
  like(turn: Turn): { answer: KeptAnswer; named: boolean }[] {
    const alike = [...(this.#alike.get(digest(turn)) ?? [])].reverse();
    const isNamed = (answer: KeptAnswer) =>
      turn.parts.some(
        ({ id, callId }) =>
          this.#parts.get(id ?? "")?.answer === answer ||
          this.#parts.get(callId ?? "")?.answer === answer,
      );
    return alike
      .map((answer) => ({ answer, named: isNamed(answer) }))
      .sort((a, b) => Number(b.named) - Number(a.named));
  }

  #forget(id: string, { answer, key, names, bytes }: Held): void {
    this.#held.delete(id);
    for (const name of names) {
      if (this.#parts.get(name)?.answer === answer) this.#parts.delete(name);
    }
    const alike = this.#alike.get(key);
    alike?.delete(answer);
    if (alike?.size === 0) this.#alike.delete(key);
    this.#bytes -= bytes;
  }
}

const digest = (turn: Turn) => createHash("sha256").update(keyOf(turn)).digest("base64");
