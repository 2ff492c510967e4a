import type { EndpointState } from "./endpoint-state.js";

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
