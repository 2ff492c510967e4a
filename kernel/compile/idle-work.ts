import { collectGarbage } from "#kernel-platform/collect";
import { saveCodeCache } from "#kernel-platform/load-typescript";
import { later } from "#platform/process";
import type { World } from "./check/world.js";

/** Work of a compiler that nobody should wait for: done once nobody has asked for anything in a while. */
export class IdleWork {
  readonly #world: World;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What is done first, each after so many milliseconds. */
  readonly #first: [milliseconds: number, work: () => void][];
  #warms = false;
  /** Milliseconds without a request until Node's types are loaded. */
  #patience = 3000;

  /** `rehearse` does what the first request of its kind would wait for. */
  constructor(world: World, rehearse: () => void) {
    this.#world = world;
    this.#first = [
      [10, rehearse],
      [200, saveCodeCache],
    ];
  }

  /** Node's types are still to be loaded. */
  get warms(): boolean {
    return this.#warms;
  }

  /** From now on, while the front end connects. */
  start(): void {
    this.#warms = true;
    this.#world.ensure();
    this.schedule();
  }

  /** A request has come. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Somebody has asked what Node's types would answer better. */
  loadTypesSoon(): void {
    this.#patience = 200;
    this.schedule();
  }

  /** A request has been answered. */
  schedule(): void {
    this.stop();
    const world = this.#world;
    if (world.age >= 1) this.renew();
    if (world.age >= 0.5) this.#timer = later(() => this.renew(), 300);
    else if (this.#warms) this.#warm();
  }

  #warm(): void {
    const [milliseconds, work] = this.#first[0] ?? [this.#patience, () => this.#loadTypes()];
    this.#timer = later(() => {
      this.#first.shift();
      work();
      this.schedule();
    }, milliseconds);
  }

  /** Most notebooks import something sooner or later. Then Node's types are 0.3 s of waiting. */
  #loadTypes(): void {
    this.#warms = false;
    this.#world.ensure();
    this.#world.loadNodeTypes();
  }

  /** Begins with a world that has seen nothing yet. */
  renew(): void {
    this.#world.renew();
    collectGarbage();
  }
}
