import { environment } from "#platform/environment";
import { checkArguments } from "../arguments/check-arguments.js";
import {
  endpointSettings,
  type EndpointOptions,
  type EndpointSettings,
} from "./endpoint-options.js";
import { pause } from "./pause.js";
import { HttpError, requestJson, shownUrl } from "./request-json.js";

/** How an endpoint has been doing. */
export interface EndpointHealth {
  url: string;
  healthy: boolean;
  running: number;
  /** Requests allowed at the same time now; halved by 429 and 503, won back one by one. */
  width: number;
  succeeded: number;
  failed: number;
}

interface Endpoint extends EndpointHealth {
  failuresInARow: number;
  /** Not asked before, after failures in a row, while another may be. */
  restUntil: number;
  /** Not asked before, because it said so. */
  closedUntil: number;
}

/** What one request may be given besides its body. */
export interface EndpointRequest<T> {
  signal?: AbortSignal;
  /**
   * Reads the JSON of an answer. What it throws is the endpoint's failure, as a broken connection is:
   * another attempt follows.
   *
   * @default the JSON as it is
   */
  read?: (answer: unknown) => T;
}

const longestRestMs = 30_000;
/** Waits from here on are said. */
const longWaitMs = 10_000;

/**
 * Several addresses of the same model: the least busy healthy one is asked, failures are repeated
 * elsewhere, and an endpoint that says it is overloaded gets fewer requests at a time.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Endpoints } from "arpo-lab/http";
 *
 * // Nothing listens on port 9.
 * const endpoints = new Endpoints({ urls: ["http://127.0.0.1:9/v1"], attempts: 1 });
 * await assert.rejects(endpoints.get("models"), /Cannot ask the remote policy: .*ECONNREFUSED/);
 * const [health] = endpoints.health();
 * assert.deepEqual([health.succeeded, health.failed], [0, 1]);
 *
 * const never = { urls: ["http://127.0.0.1:9/v1"], attempts: 0 };
 * assert.throws(() => new Endpoints(never), /attempts must be a positive integer, got 0/);
 * ```
 */
export class Endpoints {
  readonly #options: EndpointSettings;
  readonly #endpoints: Endpoint[];
  readonly #send: typeof requestJson;
  #waiting: (() => void)[] = [];

  /**
   * `send` stands for the network in tests.
   *
   * @throws RangeError that names the option that makes no sense.
   */
  constructor(options: EndpointOptions, send: typeof requestJson = requestJson) {
    checkArguments("use endpoints", { options, send }, { options: "object", send: "function" });
    this.#options = endpointSettings(options);
    this.#send = send;
    this.#endpoints = this.#options.urls.map((url) => ({
      url: new URL(url).href.replace(/\/$/, ""),
      healthy: true,
      running: 0,
      width: this.#options.concurrency,
      succeeded: 0,
      failed: 0,
      failuresInARow: 0,
      restUntil: 0,
      closedUntil: 0,
    }));
  }

  /** The state of every endpoint, in the order given. */
  health(): EndpointHealth[] {
    return this.#endpoints.map(({ url, healthy, running, width, succeeded, failed }) => ({
      url,
      healthy,
      running,
      width,
      succeeded,
      failed,
    }));
  }

  /**
   * Posts to a path below an endpoint's address and gives what `read` makes of the answer.
   *
   * @throws HttpError when the last attempt failed, or one that no repetition mends.
   */
  post<T = unknown>(path: string, body: unknown, request: EndpointRequest<T> = {}): Promise<T> {
    return this.#ask("POST", path, body, request);
  }

  /** Gets a path below an endpoint's address; otherwise as `post`. */
  get<T = unknown>(path: string, request: EndpointRequest<T> = {}): Promise<T> {
    return this.#ask("GET", path, undefined, request);
  }

  async #ask<T>(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    { signal, read = (answer) => answer as T }: EndpointRequest<T>,
  ): Promise<T> {
    const { attempts, doing, timeoutMs, maxBytes, onFault } = this.#options;
    let last: unknown;
    const failures = new Map<Endpoint, number>();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const wait = this.#wait(attempt, last);
      if (wait > 0) await pause(wait, signal);
      const endpoint = await this.#acquire(failures, signal);
      try {
        const url = `${endpoint.url}/${path}`;
        const answer = await this.#send(doing, {
          method,
          url,
          headers: this.#headers(),
          body,
          timeoutMs,
          maxBytes,
          signal,
        });
        const taken = this.#read(url, answer, read);
        this.#succeed(endpoint);
        return taken;
      } catch (error) {
        if (signal?.aborted) throw error;
        onFault?.(error);
        this.#fail(endpoint, error);
        failures.set(endpoint, (failures.get(endpoint) ?? 0) + 1);
        if (error instanceof HttpError && !error.retry) throw error;
        last = error;
      } finally {
        endpoint.running--;
        this.#wake();
      }
    }
    throw last;
  }

  #read<T>(url: string, answer: unknown, read: (answer: unknown) => T): T {
    try {
      return read(answer);
    } catch (error) {
      if (error instanceof HttpError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new HttpError(
        `Cannot ${this.#options.doing}: ${shownUrl(url)} must give an answer that can be used, got ${why}`,
        undefined,
        true,
        undefined,
        "content",
      );
    }
  }

  #headers(): Record<string, string> {
    const name = this.#options.apiKeyEnv;
    if (name === undefined) return {};
    const key = environment[name];
    if (!key) {
      throw new HttpError(
        `Cannot ${this.#options.doing}: the environment variable ${name} must hold a key, got none`,
        undefined,
        false,
      );
    }
    return { Authorization: `Bearer ${key}` };
  }

  /**
   * How long to wait before an attempt: until somebody may be asked, and before a repetition a random
   * part of a doubling time, unless the server said how long.
   */
  #wait(attempt: number, last: unknown): number {
    const { doing, longestWaitMs, backoffMs } = this.#options;
    const closed = Math.min(...this.#endpoints.map((e) => e.closedUntil)) - Date.now();
    if (closed > longestWaitMs) {
      if (last !== undefined) throw last;
      throw new HttpError(
        `Cannot ${doing}: ${this.#endpoints.map((e) => shownUrl(e.url)).join(", ")} asked to be left alone for another ${seconds(closed)}, and at most ${seconds(longestWaitMs)} are waited`,
        429,
        false,
        closed,
        "status",
      );
    }
    if (closed > 0) return closed;
    if (attempt === 0 || (last instanceof HttpError && last.retryAfterMs !== undefined)) return 0;
    const ceiling = Math.min(longestRestMs, backoffMs * 2 ** (attempt - 1));
    return ceiling * (0.5 + Math.random() / 2);
  }

  async #acquire(failures: ReadonlyMap<Endpoint, number>, signal?: AbortSignal): Promise<Endpoint> {
    for (;;) {
      signal?.throwIfAborted();
      const free = this.#choose(failures);
      if (free) {
        free.running++;
        return free;
      }
      await new Promise<void>((resolve, reject) => {
        const stop = () => {
          reject(signal?.reason as Error);
        };
        signal?.addEventListener("abort", stop, { once: true });
        this.#waiting.push(() => {
          signal?.removeEventListener("abort", stop);
          resolve();
        });
      });
    }
  }

  /**
   * Of the endpoints with room the one that has failed this request least often, then the least busy;
   * resting ones only when every other is resting too, and those that asked for a wait last of all.
   */
  #choose(failures: ReadonlyMap<Endpoint, number>): Endpoint | undefined {
    const now = Date.now();
    const open = this.#endpoints.filter((e) => e.closedUntil <= now);
    const awake = open.filter((e) => e.restUntil <= now);
    const candidates = [awake, open, this.#endpoints].find((some) => some.length > 0)!;
    const failed = (e: Endpoint) => failures.get(e) ?? 0;
    const better = (a: Endpoint, b: Endpoint) =>
      failed(a) !== failed(b) ? failed(a) < failed(b) : a.running / a.width < b.running / b.width;
    let best: Endpoint | undefined;
    for (const e of candidates) {
      if (e.running < e.width && (!best || better(e, best))) best = e;
    }
    return best;
  }

  #succeed(endpoint: Endpoint): void {
    endpoint.succeeded++;
    endpoint.failuresInARow = 0;
    endpoint.healthy = true;
    endpoint.restUntil = 0;
    endpoint.width = Math.min(this.#options.concurrency, endpoint.width + 1);
  }

  #fail(endpoint: Endpoint, error: unknown): void {
    endpoint.failed++;
    const { status, retryAfterMs = 0 } = error instanceof HttpError ? error : {};
    if (status === 429 || status === 503) {
      endpoint.width = Math.max(1, Math.floor(endpoint.width / 2));
    } else endpoint.failuresInARow++;
    if (endpoint.failuresInARow >= 3) {
      endpoint.healthy = false;
      const rest = this.#options.backoffMs * 2 ** endpoint.failuresInARow;
      endpoint.restUntil = Date.now() + Math.min(longestRestMs, rest);
    }
    if (retryAfterMs > 0) this.#close(endpoint, retryAfterMs);
  }

  /** Leaves an endpoint alone for as long as it asks, and says so once where that is long. */
  #close(endpoint: Endpoint, ms: number): void {
    const now = Date.now();
    if (ms > longWaitMs && endpoint.closedUntil <= now) {
      this.#options.note(
        `arpo-lab: ${shownUrl(endpoint.url)} asks to be left alone for ${seconds(ms)}`,
      );
    }
    endpoint.closedUntil = Math.max(endpoint.closedUntil, now + ms);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
