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
  /** Its place among the requests of a recorder. */
  number?: number;
  /** What later requests of a thread leave out. */
  settings?: Record<string, unknown>;
}

interface Held {
  answer: KeptAnswer;
  key: string;
  names: readonly string[];
  bytes: number;
}

/** Answers that say the same, of which one request's turn is compared with no more. */
const mostAlike = 32;

/**
 * Answers by the ids that their clients were given, so that these ids, and parts that come back as they were, become
 * the tokens that were sampled. The oldest answers leave when there are more than 1,000 or 64 MB.
 */
export class AnswerStore {
  /** In the order in which they came. */
  readonly #held = new Map<string, Held>();
  readonly #parts = new Map<string, { part: Part; answer: KeptAnswer }>();
  readonly #alike = new Map<string, Set<KeptAnswer>>();
  readonly #most: { answers: number; bytes: number };
  #bytes = 0;

  constructor(most = { answers: 1000, bytes: 64 * 2 ** 20 }) {
    this.#most = most;
  }

  add(answer: KeptAnswer): void {
    const key = digest(answer.turn);
    const { parts } = answer.turn;
    const names = parts.flatMap(({ id, callId }) =>
      [id, callId].filter((name) => name !== undefined),
    );
    // Entries may be shared with other answers: they count for each, so that memory is never more.
    const texts = JSON.stringify([answer.before, parts, answer.settings]).length;
    const lists = 4 * (answer.prompt.length + answer.tokens.length) + 64 * answer.before.length;
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
      if (this.#held.size <= this.#most.answers && this.#bytes <= this.#most.bytes) break;
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
    const alike = this.#alike.get(digest(turn));
    if (!alike) return [];
    const named = new Set<KeptAnswer>();
    for (const { id, callId } of turn.parts) {
      for (const name of [id, callId]) {
        const answer = name === undefined ? undefined : this.#parts.get(name)?.answer;
        if (answer && alike.has(answer)) named.add(answer);
      }
    }
    const latest = [...alike].reverse().slice(0, mostAlike);
    return [
      ...[...named].map((answer) => ({ answer, named: true })),
      ...latest.flatMap((answer) => (named.has(answer) ? [] : [{ answer, named: false }])),
    ];
  }

  /** Forgets every answer. */
  clear(): void {
    for (const [id, held] of this.#held) this.#forget(id, held);
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
