import { HttpError, shownUrl } from "./request-json.js";

/** How an endpoint has been doing. */
export interface EndpointHealth {
  url: string;
  /** It answers, as far as is known; one that is not is asked for its health until it does again. */
  healthy: boolean;
  running: number;
  /** Requests allowed at the same time now; halved by 429 and 503, won back one by one. */
  width: number;
  succeeded: number;
  failed: number;
}

/** A request that an endpoint is answering. */
export interface Running {
  /** When it began, in the endpoint's own count of what happened. */
  began: number;
  /** Ends it where the endpoint is given up. */
  abandon: AbortController;
}

const longestRestMs = 30_000;

/** One address: how it has been doing, and what follows from that for the next request. */
export class EndpointState {
  width: number;
  succeeded = 0;
  failed = 0;
  /** Nothing came back, not even a refusal: not asked before it says that it is there again. */
  silent = false;
  /** It takes no new requests: it was left out of the list. */
  leaving = false;
  /** Not asked before, after failures in a row, while another may be. */
  restUntil = 0;
  /** Not asked before, because it said so. */
  closedUntil = 0;
  /** When it last answered anything, or was given something to do after having nothing. */
  lastSign = 0;
  /** Questions for its health in a row that it left without an answer. */
  missed = 0;
  /** What every endpoint must have done before it is asked, as far as this one has done it. */
  prepared: object | undefined;
  readonly #running = new Set<Running>();
  #failuresInARow = 0;
  /** The same, those counted once that were under way together. */
  #waves = 0;
  #count = 0;
  #countedAt = 0;
  readonly #concurrency: number;
  readonly #backoffMs: number;

  constructor(
    readonly url: string,
    { concurrency, backoffMs }: { concurrency: number; backoffMs: number },
  ) {
    this.#concurrency = concurrency;
    this.#backoffMs = backoffMs;
    this.width = concurrency;
  }

  get running(): number {
    return this.#running.size;
  }

  get health(): EndpointHealth {
    const { url, running, width, succeeded, failed } = this;
    const healthy = !this.silent && this.#failuresInARow < 3;
    return { url, healthy, running, width, succeeded, failed };
  }

  begin(now: number): Running {
    if (this.running === 0) this.lastSign = now;
    const request = { began: ++this.#count, abandon: new AbortController() };
    this.#running.add(request);
    return request;
  }

  end(request: Running): void {
    this.#running.delete(request);
  }

  /** It answered something, if only that it will not do this now. */
  sign(now: number): void {
    this.lastSign = now;
    this.missed = 0;
    this.silent = false;
  }

  /** It is there again: nothing of before is held against it. */
  revive(now: number): void {
    this.sign(now);
    this.#failuresInARow = 0;
    this.restUntil = 0;
  }

  succeed(now: number): void {
    this.sign(now);
    this.succeeded++;
    this.#failuresInARow = 0;
    this.#waves = 0;
    this.restUntil = 0;
    this.width = Math.min(this.#concurrency, this.width + 1);
  }

  /** A request failed. Those that were under way together fail together; for how long it rests they count once. */
  fail(request: Running, error: unknown, now: number): void {
    this.failed++;
    const {
      status,
      retryAfterMs = 0,
      fault = "connection",
    } = error instanceof HttpError ? error : {};
    const answered = fault === "status" || fault === "content";
    if (answered) this.sign(now);
    if (status === 429 || status === 503) {
      this.width = Math.max(1, Math.floor(this.width / 2));
    } else {
      this.#failuresInARow++;
      if (request.began > this.#countedAt) {
        this.#countedAt = ++this.#count;
        this.#waves++;
        if (!answered) this.silent = true;
      }
      // One that is silent is asked for its health instead of being left alone for a time.
      if (answered && this.#failuresInARow >= 3) {
        const rest = this.#backoffMs * 2 ** (this.#waves + 2);
        this.restUntil = now + Math.min(longestRestMs, rest);
      }
    }
    if (retryAfterMs > 0) this.closedUntil = Math.max(this.closedUntil, now + retryAfterMs);
  }

  /** Gives it up for now: what it is answering is asked elsewhere. */
  giveUp(doing: string, now: number): void {
    this.silent = true;
    const silence = `${Math.round((now - this.lastSign) / 1000)} s`;
    const why = new HttpError(
      `Cannot ${doing}: ${shownUrl(this.url)} must answer, got nothing for ${silence}, not even of its health`,
      undefined,
      true,
      undefined,
      "timeout",
    );
    for (const { abandon } of this.#running) abandon.abort(why);
  }
}

/** What there is to know of a request before an endpoint is chosen for it. */
interface Asking {
  /** How often each has failed this request. */
  failures: ReadonlyMap<EndpointState, number>;
  /** Where requests of its kind went before. */
  preferred: EndpointState | undefined;
}

/** A preferred endpoint with so much more of its width taken than another's is left for once. */
const imbalance = 0.5;

/** Those that may be asked at all: none where every one is silent, leaving or not ready. */
export function candidates(
  endpoints: readonly EndpointState[],
  now: number,
): readonly EndpointState[] {
  const there = endpoints.filter((e) => !e.silent && !e.leaving);
  const open = there.filter((e) => e.closedUntil <= now);
  const awake = open.filter((e) => e.restUntil <= now);
  return [awake, open, there].find((some) => some.length > 0) ?? [];
}

/**
 * Of the endpoints with room the one that has failed this request least often, then its preferred endpoint, then the
 * least busy; resting ones only when every other is resting too, and those that asked for a wait last.
 */
export function choose(
  from: readonly EndpointState[],
  { failures, preferred }: Asking,
): EndpointState | undefined {
  const failed = (e: EndpointState) => failures.get(e) ?? 0;
  const busy = (e: EndpointState) => e.running / e.width;
  let best: EndpointState | undefined;
  for (const e of from) {
    if (e.running >= e.width) continue;
    if (!best || failed(e) < failed(best) || (failed(e) === failed(best) && busy(e) < busy(best))) {
      best = e;
    }
  }
  if (!best || !preferred || !from.includes(preferred) || preferred.running >= preferred.width)
    return best;
  return failed(preferred) <= failed(best) && busy(preferred) - busy(best) <= imbalance
    ? preferred
    : best;
}

const tickMs = 250;
/** An endpoint with something to do that has said nothing for so long is asked how it is. */
const quietMs = 2000;
/** How often one that is silent is asked whether it is there again. */
const againMs = 1000;
/** So long it has to say how it is. */
export const probeMs = 2500;
/** Questions in a row without an answer after which it is given up. */
const patience = 2;

/** What the watch may ask and do. */
interface Watched {
  endpoints: () => readonly EndpointState[];
  /** Whether anybody waits for an answer, or for somebody to ask. */
  busy: () => boolean;
  /** Whether an endpoint answers a question for its health. */
  alive: (endpoint: EndpointState) => Promise<boolean>;
  /** One is there (again): makes it ready. */
  returned: (endpoint: EndpointState) => Promise<void>;
  /** One that says nothing any more. */
  lost: (endpoint: EndpointState) => void;
  /** Called on every tick. */
  tick: () => void;
}

/**
 * While requests are under way: asks silent endpoints whether they are there again, and those that have
 * not answered anything for a while whether they still are. A frozen process accepts connections and
 * says nothing, so that only this tells it from one that thinks.
 */
export class HealthWatch {
  readonly #watched: Watched;
  readonly #asking = new Map<EndpointState, { since: number; done: boolean }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Watches from now on, for as long as anybody waits. */
  start(): void {
    if (this.#timer !== undefined || !this.#watched.busy()) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look();
      this.start();
    }, tickMs);
  }

  #look(): void {
    const now = Date.now();
    const { endpoints, tick } = this.#watched;
    for (const endpoint of endpoints()) {
      const asked = this.#asking.get(endpoint);
      if (asked && (!asked.done || now - asked.since < againMs)) continue;
      const quiet = endpoint.running > 0 && now - endpoint.lastSign >= quietMs;
      if (endpoint.silent || quiet) void this.#ask(endpoint, now);
    }
    tick();
  }

  async #ask(endpoint: EndpointState, since: number): Promise<void> {
    const asked = { since, done: false };
    this.#asking.set(endpoint, asked);
    const { alive, returned, lost } = this.#watched;
    try {
      if (await alive(endpoint)) {
        if (endpoint.silent) await returned(endpoint);
        else endpoint.sign(Date.now());
      } else if (++endpoint.missed >= patience && endpoint.running > 0) lost(endpoint);
    } finally {
      asked.done = true;
    }
  }
}
