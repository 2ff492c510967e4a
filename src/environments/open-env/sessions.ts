import { Semaphore } from "../../base/concurrency/semaphore.js";
import { shownUrl } from "../../base/http/request-json.js";
import { Connection, type Peer, Refusal } from "./connection.js";

/** Who holds a session, and may be asked to give it back while it does nothing. */
export interface Holder {
  /** Since when it has done nothing, and how long it must have done so before its session is taken. */
  idle(): { since: number; ms: number } | undefined;
  /** Gives its session back; it takes its calls again in another one when it continues. */
  evict(): void;
}

/** Between two questions to a server that others have filled, and between two looks at our own sessions. */
const delays = { first: 25, most: 5000, look: 100 };

/**
 * The sessions of one server, taken in turn. A server that is full says how many it has; from then on no
 * more are opened, and who waits takes the place of who ends, or of one that has been idle for long.
 */
export class Sessions {
  readonly #peer: Peer;
  readonly #waitMs: number;
  readonly #line = new Semaphore(1);
  readonly #held = new Set<Holder>();
  #limit: number;
  #closing = 0;
  /** Called when a session ends. */
  #freed: () => void = () => undefined;

  constructor(peer: Peer, limit: number, waitMs: number) {
    this.#peer = peer;
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /** How many the server has, once it was full; else how many may be held. */
  get limit(): number {
    return this.#limit;
  }

  /** Waits for a session and opens it. */
  async take(holder: Holder, signal?: AbortSignal): Promise<Connection> {
    const until = performance.now() + this.#waitMs;
    const late = AbortSignal.timeout(this.#waitMs);
    const either = signal ? AbortSignal.any([signal, late]) : late;
    try {
      return await this.#line.run(() => this.#next(holder, until, either), either);
    } catch (error) {
      signal?.throwIfAborted();
      if (!late.aborted) throw error;
      const most = Number.isFinite(this.#limit) ? `all ${this.#limit} sessions` : "its sessions";
      throw new Error(
        `Cannot open a session: the OpenEnv server ${shownUrl(this.#peer.url)} must have one free within ${this.#waitMs / 1000} s, got ${most} in use; start it with more (max_concurrent_envs), or raise waitMs`,
        { cause: error },
      );
    }
  }

  /** A holder's session moves to another holder. */
  pass(from: Holder, to: Holder): void {
    this.#held.delete(from);
    this.#held.add(to);
  }

  /** Ends a holder's session. Its place is free when the server has closed it too. */
  give(holder: Holder, session: Connection | undefined): void {
    if (!this.#held.delete(holder)) return;
    this.#closing++;
    void Promise.resolve(session?.close()).then(() => {
      this.#closing--;
      this.#freed();
    });
  }

  /** Whether one more may be opened. */
  get room(): boolean {
    return this.#held.size + this.#closing < this.#limit;
  }

  async #next(holder: Holder, until: number, signal: AbortSignal): Promise<Connection> {
    let delay = delays.first;
    for (;;) {
      signal.throwIfAborted();
      if (this.room) {
        this.#held.add(holder);
        try {
          return await Connection.open(this.#peer, signal);
        } catch (error) {
          this.#held.delete(holder);
          if (!(error instanceof Refusal) || error.code !== "CAPACITY_REACHED") throw error;
          const most = Number(error.data["max_sessions"]);
          if (Number.isSafeInteger(most) && most >= 1) this.#limit = Math.min(this.#limit, most);
        }
        delay = Math.min(delay * 2, delays.most);
      }
      const evicting = this.#held.size >= this.#limit ? this.#evictIdle() : delay;
      await this.#pause(Math.min(evicting, Math.max(1, until - performance.now())), signal);
    }
  }

  /** Takes the session of who has been idle for longest, or says how long to wait until one can be taken. */
  #evictIdle(): number {
    const now = performance.now();
    let soonest = delays.look;
    for (const holder of this.#held) {
      const idle = holder.idle();
      if (!idle) continue;
      const left = idle.since + idle.ms - now;
      if (left <= 0) {
        holder.evict();
        return delays.first; // the place is free only some milliseconds after the end
      }
      soonest = Math.min(soonest, left);
    }
    return soonest;
  }

  /** Waits for so long, or until a session ends. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done, { once: true });
      this.#freed = done;
    });
    this.#freed = () => undefined;
  }
}
