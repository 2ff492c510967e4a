import type { OpenOptions, Sequence, Session } from "../../policy/policy.js";

/**
 * The longest of several prefixes that begin alike: it is computed once, and each tree is cut back from it.
 * It lives as long as its session.
 */
export class Trunk {
  readonly #tokens: readonly number[];
  #row: Sequence | undefined;

  constructor(tokens: readonly number[]) {
    this.#tokens = tokens;
  }

  /** Whether a prefix is a beginning of it. */
  holds(tokens: readonly number[]): boolean {
    return (
      tokens.length <= this.#tokens.length && tokens.every((token, i) => token === this.#tokens[i])
    );
  }

  /** A sequence of the session behind the prompt and the first `length` tokens. */
  open(
    session: Session,
    prompt: ArrayLike<number>,
    options: OpenOptions,
    length: number,
  ): Sequence {
    if (!this.#row) {
      this.#row = session.open(prompt, options);
      if (this.#tokens.length > 0) session.append(this.#row, this.#tokens);
    }
    const row = session.fork(this.#row);
    if (length < this.#tokens.length) session.truncate(row, prompt.length + length);
    return row;
  }
}

/** Gives starts of one prompt whose prefixes begin alike a common trunk. */
export function shareTrunks(
  starts: readonly { prefixTokens: readonly number[]; trunk?: Trunk }[],
): void {
  const trunks: Trunk[] = [];
  const longestFirst = [...starts].sort((a, b) => b.prefixTokens.length - a.prefixTokens.length);
  for (const start of longestFirst) {
    let trunk = trunks.find((one) => one.holds(start.prefixTokens));
    if (!trunk) trunks.push((trunk = new Trunk(start.prefixTokens)));
    start.trunk = trunk;
  }
}
