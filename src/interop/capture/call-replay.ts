import type { Segment } from "../../policy/policy.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { CapturedCall } from "./captured-call.js";
import { segmentOf } from "./captured-call.js";
import { sharedLength, wordsAt } from "./link-calls.js";

/** Where a run of a program leaves a recorded one. */
export interface BranchPoint {
  /** The recorded call that is answered anew. */
  call: number;
  /** How many tokens of its answer are kept. Default 0. */
  token?: number;
}

/** What a choice is given of a record: undefined where it is sampled as usual. */
type Given = (index: number) => { segment: Segment; whole: boolean } | undefined;

/**
 * Answers a program from the record of an earlier run, as long as it asks the same; from a point on it goes on
 * by itself. A prompt with other ids means that the program cannot be repeated.
 */
export class CallReplay {
  readonly #calls: readonly CapturedCall[];
  readonly #at: Required<BranchPoint>;
  readonly #tokenizer: Tokenizer;
  readonly #used = new Set<number>();
  #reached = false;

  constructor(
    calls: readonly CapturedCall[],
    { call, token = 0 }: BranchPoint,
    tokenizer: Tokenizer,
  ) {
    const recorded = calls[call];
    if (!recorded || recorded.cut !== undefined) {
      throw new RangeError(
        `Cannot begin a session: at.call must be one of the record's ${calls.length} calls that was answered, got ${call}`,
      );
    }
    if (!Number.isInteger(token) || token < 0 || token > recorded.tokens.length) {
      throw new RangeError(
        `Cannot begin a session: at.token must be an integer from 0 to ${recorded.tokens.length}, got ${token}`,
      );
    }
    this.#calls = calls;
    this.#at = { call, token };
    this.#tokenizer = tokenizer;
  }

  /** Whether the run came to the call that is answered anew. */
  get reached(): boolean {
    return this.#reached;
  }

  /** What a prompt's answers begin with; throws where the record has another prompt. */
  take(prompt: Int32Array): Given {
    if (this.#reached) return () => undefined;
    const left = this.#calls.filter(
      ({ request, cut }) => cut === undefined && !this.#used.has(request),
    );
    const found = left.find(
      (call) =>
        call.prompt.length === prompt.length && sharedLength(call.prompt, prompt) === prompt.length,
    );
    if (!found) throw this.#refusal(left[0], prompt);
    this.#used.add(found.request);
    const choices = this.#calls.filter(({ request }) => request === found.request);
    this.#reached = choices.some(({ id }) => id === this.#at.call);
    return (index) => {
      const choice = choices[index];
      if (!choice) return undefined;
      if (choice.id !== this.#at.call) return { segment: segmentOf(choice), whole: true };
      const { token } = this.#at;
      return token === 0 ? undefined : { segment: segmentOf(choice, token), whole: false };
    };
  }

  #refusal(expected: CapturedCall | undefined, prompt: Int32Array): Error {
    if (!expected) {
      return new Error(`the run asks once more than the recorded one before call ${this.#at.call}`);
    }
    const shared = sharedLength(expected.prompt, prompt);
    const words = (ids: Int32Array) => JSON.stringify(wordsAt(ids, shared, this.#tokenizer));
    return new Error(
      `the prompt of call ${expected.id} must be as recorded, ${words(expected.prompt)} behind ${shared} equal tokens, got ${words(prompt)}`,
    );
  }
}
