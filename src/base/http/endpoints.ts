import { environment } from "#platform/process";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  candidates,
  choose,
  type EndpointHealth,
  EndpointState,
  HealthWatch,
  probeMs,
  type Running,
} from "./endpoint-state.js";
import {
  endpointSettings,
  type EndpointOptions,
  type EndpointSettings,
} from "./endpoint-options.js";
import { HttpError, Outage, requestJson, shownUrl } from "./request-json.js";
import { backoff, pause } from "./pause.js";

/** What one request may be given besides its body. */
interface EndpointRequest<T> {
  signal?: AbortSignal;
  /**
   * Reads the JSON of an answer. What it throws is the endpoint's failure, as a broken connection is:
   * another attempt follows.
   *
   * @default the JSON as it is
   */
  read?: (answer: unknown) => T;
  /**
   * Requests with the same key go to the same endpoint while that has room, so that they meet what it
   * remembers of their common beginning.
   *
   * @default the least busy endpoint is asked
   */
  key?: object;
}

/** Asks one endpoint, once; an empty answer is `undefined`. */
type AskOne = (method: "GET" | "POST", path: string, body?: unknown) => Promise<unknown>;

const longestRestMs = 30_000;
/** Waits from here on are said. */
const longWaitMs = 10_000;

/**
 * Several addresses of the same model: the least busy healthy one is asked, failures are repeated
 * elsewhere, and an endpoint that says it is overloaded gets fewer requests at a time.
 *
 * Of several, one that cannot be reached is left alone and asked for its health every second: it is used
 * again as soon as it answers. One that leaves its requests without an answer for seconds is asked for
 * its health too; if it says nothing, they are asked elsewhere. When none is there, requests wait for
 * `outageMs` before they fail.
 */
export class Endpoints {
  readonly #options: EndpointSettings;
  readonly #send: typeof requestJson;
  readonly #watch: HealthWatch;
  #endpoints: EndpointState[];
  /** Where requests of a key went before. */
  readonly #preferred = new WeakMap<object, EndpointState>();
  #waiting: (() => void)[] = [];
  readonly #outage: Outage;
  #preparation: { run: (ask: AskOne) => Promise<void> } | undefined;

  /**
   * `send` stands for the network in tests.
   *
   * @throws RangeError that names the option that makes no sense.
   */
  constructor(options: EndpointOptions, send: typeof requestJson = requestJson) {
    checkArguments("use endpoints", { send }, { send: "function" });
    this.#options = endpointSettings(options);
    this.#send = send;
    this.#outage = new Outage(this.#options.outageMs);
    this.#endpoints = this.#options.urls.map((url) => this.#state(url));
    this.#watch = new HealthWatch({
      endpoints: () => this.#endpoints.filter((e) => this.#fleet || e.silent),
      busy: () => this.#waiting.length > 0 || this.#endpoints.some((e) => e.running > 0),
      alive: (endpoint) => this.#alive(endpoint),
      returned: (endpoint) => this.#ready(endpoint),
      lost: (endpoint) => {
        this.#lose(endpoint);
      },
      tick: () => {
        if (this.#waiting.length > 0) this.#wake();
      },
    });
  }

  /** The state of every endpoint, in the order given. */
  health(): EndpointHealth[] {
    return this.#endpoints.filter((e) => !e.leaving).map((e) => e.health);
  }

  /**
   * Goes on with these addresses: new ones are asked from now on, those left out finish what they are
   * answering and are asked no more. Resolves when they have.
   *
   * @throws RangeError where there is no address left, or one is none.
   */
  async use(urls: readonly string[]): Promise<void> {
    const { urls: checked } = endpointSettings({ ...this.#options, urls });
    const before = this.#endpoints;
    const next = checked.map((url) => {
      const state = this.#state(url);
      return before.find((e) => e.url === state.url && !e.leaving) ?? state;
    });
    const left = before.filter((e) => !next.includes(e));
    for (const endpoint of left) endpoint.leaving = true;
    this.#endpoints = [...next, ...left];
    await Promise.all(next.map((e) => this.#prepare(e)));
    this.#wake();
    await this.#until(() => left.every((e) => e.running === 0));
    this.#endpoints = this.#endpoints.filter((e) => !left.includes(e));
  }

  /**
   * Does something at every endpoint before it is asked again: each finishes what it is answering first.
   * One that is away does it when it returns, and one that joins, first of all.
   *
   * @throws HttpError where it failed at one that is there; that one is left alone until it succeeds.
   */
  async everywhere(run: (ask: AskOne) => Promise<void>): Promise<void> {
    checkArguments("use endpoints", { run }, { run: "function" });
    this.#preparation = { run };
    const done = await Promise.allSettled(
      this.#endpoints.filter((e) => !e.leaving).map((e) => this.#prepare(e)),
    );
    this.#wake();
    const failed = done.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    if (!this.#endpoints.some((e) => e.prepared === this.#preparation)) {
      throw new HttpError(
        `Cannot ${this.#options.doing}: one of ${this.#names()} must answer, got none`,
      );
    }
  }

  /**
   * Posts to a path below an endpoint's address and gives what `read` makes of the answer.
   *
   * @throws HttpError when the last attempt failed, or one that no repetition fixes.
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
    { signal, read = (answer) => answer as T, key }: EndpointRequest<T>,
  ): Promise<T> {
    const { attempts, doing, timeoutMs, maxBytes, onFault } = this.#options;
    let last: unknown;
    const failures = new Map<EndpointState, number>();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const wait = this.#wait(attempt, last);
      if (wait > 0) await pause(wait, signal);
      const { endpoint, running } = await this.#acquire(failures, key, signal);
      const { abandon } = running;
      try {
        const url = `${endpoint.url}/${path}`;
        const answer = await this.#send(doing, {
          method,
          url,
          headers: this.#headers(),
          body,
          timeoutMs,
          maxBytes,
          signal: signal ? AbortSignal.any([signal, abandon.signal]) : abandon.signal,
        });
        const taken = this.#read(url, answer, read);
        endpoint.succeed(Date.now());
        return taken;
      } catch (error) {
        if (signal?.aborted) throw error;
        onFault?.(error);
        this.#fail(endpoint, running, error);
        failures.set(endpoint, (failures.get(endpoint) ?? 0) + 1);
        if (error instanceof HttpError && !error.retry) throw error;
        last = error;
      } finally {
        endpoint.end(running);
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
        `Cannot ${doing}: ${this.#names()} asked to be left alone for another ${seconds(closed)}, and at most ${seconds(longestWaitMs)} are waited`,
        429,
        false,
        closed,
        "status",
      );
    }
    if (closed > 0) return closed;
    if (attempt === 0 || (last instanceof HttpError && last.retryAfterMs !== undefined)) return 0;
    return backoff(attempt - 1, { first: backoffMs, longest: longestRestMs });
  }

  async #acquire(
    failures: ReadonlyMap<EndpointState, number>,
    key: object | undefined,
    signal?: AbortSignal,
  ): Promise<{ endpoint: EndpointState; running: Running }> {
    const began = Date.now();
    for (;;) {
      signal?.throwIfAborted();
      const now = Date.now();
      const from = candidates(this.#endpoints, now).filter((e) => e.prepared === this.#preparation);
      this.#checkOutage(from.length > 0, began, now);
      const preferred = key === undefined ? undefined : this.#preferred.get(key);
      const endpoint = choose(from, { failures, preferred });
      if (endpoint) {
        if (key !== undefined && (!preferred || !from.includes(preferred)))
          this.#preferred.set(key, endpoint);
        const running = endpoint.begin(now);
        this.#watch.start();
        return { endpoint, running };
      }
      await this.#turn(signal);
    }
  }

  /** Waits until something has happened that may let a request go on. */
  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const stop = () => {
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.push(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      this.#watch.start();
    });
  }

  async #until(done: () => boolean): Promise<void> {
    while (!done()) await this.#turn();
  }

  /** Throws where nobody has been there for too long while a request waited. */
  #checkOutage(there: boolean, began: number, now: number): void {
    if (there || !this.#nobody()) {
      this.#outage.end();
      return;
    }
    this.#outage.begin(now);
    const over = this.#outage.tooLong(this.#options.doing, this.#names(), began, now);
    if (over) throw over;
  }

  #nobody(except?: EndpointState): boolean {
    return this.#endpoints.every((e) => e === except || e.silent || e.leaving);
  }

  #fail(endpoint: EndpointState, running: Running, error: unknown): void {
    const now = Date.now();
    const closed = endpoint.closedUntil;
    endpoint.fail(running, error, now);
    // A single address has no other: it is asked again after a while, as ever.
    if (!this.#fleet) endpoint.silent = false;
    else if (this.#nobody()) this.#outage.begin(now, error);
    const asked = endpoint.closedUntil - now;
    if (asked > longWaitMs && closed <= now) {
      this.#options.note(
        `arpo-lab: ${shownUrl(endpoint.url)} asks to be left alone for ${seconds(asked)}`,
      );
    }
  }

  /** Gives an endpoint up that says nothing; the last one only after a long silence. */
  #lose(endpoint: EndpointState): void {
    const now = Date.now();
    if (this.#nobody(endpoint) && now - endpoint.lastSign < this.#options.outageMs) return;
    endpoint.giveUp(this.#options.doing, now);
    this.#options.note(
      `arpo-lab: ${shownUrl(endpoint.url)} says nothing any more; what it was asked is asked elsewhere`,
    );
  }

  async #alive(endpoint: EndpointState): Promise<boolean> {
    try {
      await this.#one(endpoint, probeMs)("GET", this.#options.healthPath);
      return true;
    } catch (error) {
      // A server that has no such address is there.
      return error instanceof HttpError && error.status !== undefined && error.status < 500;
    }
  }

  /** One is there again. */
  async #ready(endpoint: EndpointState): Promise<void> {
    try {
      endpoint.prepared = undefined;
      await this.#prepare(endpoint, true);
      endpoint.revive(Date.now());
    } catch (error) {
      this.#options.onFault?.(error);
    }
    this.#wake();
  }

  /** Has an endpoint do what all must have done, once it answers nothing else. */
  async #prepare(endpoint: EndpointState, back = false): Promise<void> {
    const preparation = this.#preparation;
    if (endpoint.prepared === preparation || (endpoint.silent && !back)) return;
    await this.#until(() => endpoint.running === 0);
    try {
      await preparation?.run(this.#one(endpoint, this.#options.timeoutMs));
    } catch (error) {
      endpoint.silent = true;
      throw error;
    }
    endpoint.prepared = preparation;
    this.#wake();
  }

  #one(endpoint: EndpointState, timeoutMs: number): AskOne {
    const { doing, maxBytes } = this.#options;
    return async (method, path, body) => {
      const url = `${endpoint.url}/${path}`;
      const headers = this.#headers();
      try {
        return await this.#send(doing, { method, url, headers, body, timeoutMs, maxBytes });
      } catch (error) {
        if (error instanceof HttpError && error.fault === "content") return undefined;
        throw error;
      }
    };
  }

  #state(url: string): EndpointState {
    return new EndpointState(new URL(url).href.replace(/\/$/, ""), this.#options);
  }

  get #fleet(): boolean {
    return this.#endpoints.length > 1;
  }

  #names(): string {
    return this.#endpoints.map((e) => shownUrl(e.url)).join(", ");
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
