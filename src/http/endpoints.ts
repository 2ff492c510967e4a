import { setTimeout as sleep } from "node:timers/promises";
import { HttpError, requestJson } from "./request-json.js";

export interface EndpointOptions {
  /** Base addresses, each up to and including `/v1`. */
  urls: readonly string[];
  /** Name of the environment variable that holds the key. Without one, no key is sent. */
  apiKeyEnv?: string;
  /** Requests at the same time, per endpoint. Default 32. */
  concurrency?: number;
  /** Attempts per request, the first included. Default 6. */
  attempts?: number;
  /** The first wait before another attempt; it doubles, and a random part of it is waited. Default 250. */
  backoffMs?: number;
  /** Default 600,000. */
  timeoutMs?: number;
  /** Completes "Cannot ..." in errors. Default "ask the remote policy". */
  doing?: string;
  /** Told of every attempt that failed, those that are repeated too. */
  onFault?: (error: unknown) => void;
}

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
  restUntil: number;
}

const longestRestMs = 30_000;

/**
 * Several addresses of the same model: the least busy healthy one is asked, failures are repeated
 * elsewhere, and an endpoint that says it is overloaded gets fewer requests at a time.
 */
export class Endpoints {
  readonly #options: Required<Omit<EndpointOptions, "apiKeyEnv" | "onFault">> &
    Pick<EndpointOptions, "apiKeyEnv" | "onFault">;
  readonly #endpoints: Endpoint[];
  #waiting: (() => void)[] = [];

  constructor(options: EndpointOptions) {
    if (options.urls.length === 0) {
      throw new RangeError(
        `Cannot ${options.doing ?? "reach a remote policy"}: at least one address is needed, got none`,
      );
    }
    const { concurrency = 32, attempts = 6, backoffMs = 250, timeoutMs = 600_000 } = options;
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw new RangeError(
        `Cannot reach a remote policy: concurrency must be a positive integer, got ${concurrency}`,
      );
    }
    this.#options = {
      concurrency,
      attempts,
      backoffMs,
      timeoutMs,
      urls: options.urls,
      apiKeyEnv: options.apiKeyEnv,
      doing: options.doing ?? "ask the remote policy",
      onFault: options.onFault,
    };
    this.#endpoints = options.urls.map((url) => ({
      url: new URL(url).href.replace(/\/$/, ""),
      healthy: true,
      running: 0,
      width: concurrency,
      succeeded: 0,
      failed: 0,
      failuresInARow: 0,
      restUntil: 0,
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

  /** Posts to a path below an endpoint's address and gives the JSON that came back. */
  post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#ask("POST", path, body, signal);
  }

  get(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#ask("GET", path, undefined, signal);
  }

  async #ask(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    let last: unknown;
    const failures = new Map<Endpoint, number>();
    for (let attempt = 0; attempt < this.#options.attempts; attempt++) {
      if (attempt > 0) await sleep(this.#wait(attempt, last), undefined, { signal });
      const endpoint = await this.#acquire(failures, signal);
      try {
        const answer = await requestJson(this.#options.doing, {
          method,
          url: `${endpoint.url}/${path}`,
          headers: this.#headers(),
          body,
          timeoutMs: this.#options.timeoutMs,
          maxBytes: 256 * 2 ** 20,
          signal,
        });
        this.#succeed(endpoint);
        return answer;
      } catch (error) {
        if (signal?.aborted) throw error;
        this.#options.onFault?.(error);
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

  #headers(): Record<string, string> {
    const name = this.#options.apiKeyEnv;
    if (name === undefined) return {};
    const key = process.env[name];
    if (!key) {
      throw new HttpError(
        `Cannot ${this.#options.doing}: the environment variable ${name} must hold a key, got none`,
        undefined,
        false,
      );
    }
    return { Authorization: `Bearer ${key}` };
  }

  /** What the server asked for, else a random part of a doubling time. */
  #wait(attempt: number, error: unknown): number {
    const asked = error instanceof HttpError ? error.retryAfterMs : undefined;
    const ceiling = Math.min(longestRestMs, this.#options.backoffMs * 2 ** (attempt - 1));
    return Math.min(longestRestMs, asked ?? ceiling * (0.5 + Math.random() / 2));
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
   * resting ones only when every other is resting too.
   */
  #choose(failures: ReadonlyMap<Endpoint, number>): Endpoint | undefined {
    const now = Date.now();
    const awake = this.#endpoints.filter((e) => e.restUntil <= now);
    const candidates = awake.length > 0 ? awake : this.#endpoints;
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
    const status = error instanceof HttpError ? error.status : undefined;
    if (status === 429 || status === 503) {
      endpoint.width = Math.max(1, Math.floor(endpoint.width / 2));
    } else endpoint.failuresInARow++;
    if (endpoint.failuresInARow >= 3) {
      endpoint.healthy = false;
      const rest = this.#options.backoffMs * 2 ** endpoint.failuresInARow;
      endpoint.restUntil = Date.now() + Math.min(longestRestMs, rest);
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
