import type { Message } from "./message.js";

/**
 * Which requests a failed cell takes with it: all that were sent before its reply could be known.
 *
 * Some of them may still be on their way when the reply leaves. The front end's own clock tells: it
 * cannot have the reply earlier than it sent the failing request plus the time the cell took here.
 */
export class Failures {
  readonly #queued = new WeakSet<Message>();
  readonly #until = new Map<string, number>();

  /** `took` is in milliseconds; `queue` is what has arrived meanwhile. */
  add(failed: Message, took: number, queue: readonly Message[]): void {
    const { session, date } = failed.header;
    for (const request of queue) if (request.header.session === session) this.#queued.add(request);
    const sent = Date.parse(date);
    // Dates are cut to the millisecond by some front ends, so is the time taken.
    if (Number.isFinite(sent)) this.#until.set(session, sent + Math.floor(took));
  }

  covers(request: Message): boolean {
    const { session, date } = request.header;
    return this.#queued.has(request) || Date.parse(date) < (this.#until.get(session) ?? -Infinity);
  }
}
