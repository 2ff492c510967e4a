import { HttpError } from "./request-json.js";

/** The time in which no endpoint is there: how long it has lasted, and when it is too long. */
export class Outage {
  readonly #limitMs: number;
  #began: { at: number; last: unknown } | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Nobody is there any more; `last` is what the last one's request failed with. */
  begin(at: number, last?: unknown): void {
    this.#began ??= { at, last };
  }

  end(): void {
    this.#began = undefined;
  }

  /** What a request that has waited since then fails with, where this has lasted too long. */
  tooLong(doing: string, names: string, began: number, now: number): HttpError | undefined {
    if (!this.#began) return undefined;
    const { at, last } = this.#began;
    const ms = now - Math.max(at, began);
    if (ms < this.#limitMs) return undefined;
    const got = last instanceof Error ? `; the last one said: ${last.message}` : "";
    return new HttpError(
      `Cannot ${doing}: one of ${names} must answer, got nothing from any for ${Math.ceil(ms / 1000)} s${got}`,
      undefined,
      false,
    );
  }
}
