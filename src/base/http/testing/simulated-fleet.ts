// Endpoints that fail, freeze and return, on a clock that stands until it is moved.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Random } from "../../random/random.js";
import { Endpoints } from "../endpoints.js";
import type { EndpointOptions } from "../endpoint-options.js";
import { HttpError, type JsonRequest, type requestJson } from "../request-json.js";

type State = "well" | "dead" | "frozen";

/** A server that takes so long for an answer, and may be dead or frozen. */
export class Simulated {
  state: State = "well";
  answered = 0;
  running = 0;
  readonly bodies: unknown[] = [];
  #broken: ((error: Error) => void)[] = [];
  constructor(
    readonly url: string,
    readonly latency: () => number = () => 100,
  ) {}

  kill(): void {
    this.state = "dead";
    for (const drop of this.#broken.splice(0)) drop(refused(this.url));
  }

  answer({ url, body, timeoutMs = 0, signal }: JsonRequest): Promise<unknown> {
    if (this.state === "dead") return Promise.reject(refused(url));
    const probe = url.endsWith("/../health");
    if (!probe) this.running++;
    return new Promise<unknown>((resolve, reject) => {
      this.#broken.push(reject);
      signal?.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
      setTimeout(() => {
        reject(new HttpError("nothing in time", undefined, true, undefined, "timeout"));
      }, timeoutMs);
      if (this.state === "frozen") return;
      setTimeout(
        () => {
          if (this.state !== "well") return;
          if (!probe) {
            this.answered++;
            this.bodies.push(body);
          }
          resolve({ from: this.url });
        },
        probe ? 5 : this.latency(),
      );
    }).finally(() => {
      if (!probe) this.running--;
    });
  }
}

const refused = (url: string) =>
  new HttpError(`${url} ECONNREFUSED`, undefined, true, undefined, "connection");

/** A fleet of simulated servers, and the clock it lives by. */
export function fleet(
  t: Pick<TestContext, "mock">,
  servers: Simulated[],
  options: Partial<EndpointOptions> = {},
) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const notes: string[] = [];
  const send: typeof requestJson = (_, request) =>
    servers.find(({ url }) => request.url.startsWith(`${url}/`))!.answer(request);
  const urls = servers.map(({ url }) => url);
  const note = (line: string) => notes.push(line);
  const endpoints = new Endpoints({ urls, note, timeoutMs: 600_000, ...options }, send);
  /** Moves the clock until something is so; gives the milliseconds. */
  const pass = async (what: () => boolean, limitMs: number, step = 10): Promise<number> => {
    for (let ms = 0; ms <= limitMs; ms += step) {
      for (let i = 0; i < 30; i++) await Promise.resolve();
      if (what()) return ms;
      t.mock.timers.tick(step);
    }
    throw new Error(`Cannot wait longer than ${limitMs} ms of the clock: ${what.toString()}`);
  };
  return { endpoints, notes, pass };
}

/** So many servers. */
export const named = (count: number, latency?: () => number) =>
  Array.from({ length: count }, (_, i) => new Simulated(`http://s${i}.example/v1`, latency));

/** Time that so many requests take on endpoints with long-tailed latencies; with faults, one dies and one freezes for a while. */
export async function duration(
  t: Pick<TestContext, "mock">,
  count: number,
  requests: number,
  options: { faults?: boolean } = {},
): Promise<number> {
  const random = Random.from(7);
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
  const servers = named(count, () => 400 * Math.exp(0.6 * normal()));
  const { endpoints, pass } = fleet(t, servers, { concurrency: 16 });
  const seen = new Map<number, number>();
  let next = 0;
  let done = 0;
  const one = async (): Promise<void> => {
    while (next < requests) {
      const id = next++;
      await endpoints.post("x", { id });
      seen.set(id, (seen.get(id) ?? 0) + 1);
      done++;
    }
  };
  const all = Array.from({ length: 16 * count }, one);
  let ms = 0;
  if (options.faults) {
    // One dies and returns, then another freezes for a third of the time.
    ms += await pass(() => done > requests / 10, 1e6);
    servers[1]!.kill();
    ms += await pass(() => done > requests / 5, 1e6);
    servers[1]!.state = "well";
    servers[2]!.state = "frozen";
    ms += await pass(() => done > requests / 2, 1e6);
    servers[2]!.state = "well";
  }
  ms += await pass(() => done === requests, 1e7, 20);
  await Promise.all(all);
  assert.equal(seen.size, requests);
  assert.ok([...seen.values()].every((times) => times === 1));
  t.mock.timers.reset();
  return ms;
}
