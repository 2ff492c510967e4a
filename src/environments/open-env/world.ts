import { note } from "#platform/note";
import { Connection, Lost, type Peer, Refusal } from "./connection.js";
import type { Holder, Sessions } from "./sessions.js";
import { invalid } from "./texts.js";
import { isRecord } from "../../../common/options/is-record.js";

type Json = Record<string, unknown>;

/** What came of an action. */
interface Seen {
  text: string;
  ok: boolean;
  reward?: number | undefined;
  done: boolean;
  /** It was an action: one that does not fit the schema changes nothing. */
  acted: boolean;
}

/** What all worlds of one source share. */
export interface Shared {
  peer: Peer;
  sessions: Sessions;
  observe: (observation: Json, before?: Json) => string;
  /** Whether a world that is reset with the same seed answers alike: what replays have shown. */
  replays: {
    alike: boolean | undefined;
    /** The most calls that were taken again, and how many worlds more are to be tried. */
    calls: number;
    probes: number;
    /** The first action, being taken again. */
    first?: Promise<void>;
  };
  name: string;
}

/** How long the first worlds may take to be taken again. */
const probeMs = 5000;
/** An idle session is taken from its world after so long: at once, when nothing was done in it. */
const idleMs = { fresh: 0, known: 250, unknown: 2000 };

/**
 * One world of an OpenEnv server: the reset and the actions taken in it. It holds a session only while it needs
 * one; in another session it is reset alike and takes its actions again, and must see what it saw.
 */
export class World implements Holder {
  readonly #shared: Shared;
  #connection: Connection | undefined;
  #reset: Json | undefined;
  #said = "";
  #before: Json | undefined;
  readonly #taken: { action: object; seen: Seen }[] = [];
  #idleSince: number | undefined;
  done = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** Whether branches can be had: false once a replay differed. */
  get branches(): boolean {
    return this.#shared.replays.alike !== false;
  }

  idle(): { since: number; ms: number } | undefined {
    const { alike } = this.#shared.replays;
    if (this.#idleSince === undefined || (alike === false && this.#taken.length > 0)) {
      return undefined;
    }
    const { fresh, known, unknown } = idleMs;
    const ms = this.#taken.length === 0 ? fresh : alike === true ? known : unknown;
    return { since: this.#idleSince, ms };
  }

  evict(): void {
    this.#shared.sessions.give(this, this.#connection);
    this.#connection = undefined;
  }

  /** Waits for a session, and takes the actions again that were taken in another. */
  async ready(signal?: AbortSignal): Promise<void> {
    this.#idleSince = undefined;
    if (this.#connection && !this.#connection.over) return;
    if (this.#connection) this.evict();
    if (this.#taken.length > 0 && this.#shared.replays.alike === false) {
      throw new Error(
        `the session of ${this.#shared.name} is over, and its world cannot be had twice`,
      );
    }
    for (let attempts = 2; ; attempts--) {
      this.#connection = await this.#shared.sessions.take(this, signal);
      if (this.#reset === undefined) return;
      try {
        await this.#again(this.#connection, signal);
        return;
      } catch (error) {
        this.evict();
        // Nothing new was done in it: what is taken again may be taken once more.
        if (!(error instanceof Lost) || attempts === 1 || signal?.aborted) throw error;
      }
    }
  }

  /** Begins an episode: what the model reads. */
  async reset(data: Json, signal?: AbortSignal): Promise<string> {
    await this.ready(signal);
    try {
      this.#said = await this.#begin(this.#connection!, data, signal);
      this.#reset = data;
      return this.#said;
    } catch (error) {
      this.evict();
      throw error;
    } finally {
      this.#idleSince = performance.now();
    }
  }

  async act(action: object, signal?: AbortSignal): Promise<Seen> {
    await this.ready(signal);
    try {
      let seen: Seen;
      try {
        seen = await this.#step(this.#connection!, action, signal);
      } catch (error) {
        // The world is gone with its session; where another answers alike, it goes on there.
        const again = error instanceof Lost && this.#shared.replays.alike === true;
        if (!again || signal?.aborted) throw error;
        await this.ready(signal);
        seen = await this.#step(this.#connection!, action, signal);
      }
      this.#taken.push({ action, seen });
      this.done = seen.done;
      if (seen.acted && this.#shared.replays.alike === undefined) {
        await (this.#shared.replays.first ??= this.#tryElsewhere());
      }
      return seen;
    } finally {
      this.#idleSince = performance.now();
    }
  }

  /** Another world that stands where this one does. One where nothing was done yet gets the session. */
  clone(): World {
    const copy = new World(this.#shared);
    copy.#become(this);
    if (this.#connection && this.#idleSince !== undefined && this.#taken.length === 0) {
      copy.#connection = this.#connection;
      copy.#idleSince = this.#idleSince;
      this.#connection = undefined;
      this.#shared.sessions.pass(this, copy);
    }
    return copy;
  }

  /** Gives the session back; the first worlds are taken again before, to know whether any can be. */
  async end(): Promise<void> {
    this.#idleSince = undefined;
    const { replays } = this.#shared;
    const connection = this.#connection;
    if (!connection) return;
    const wanted = this.#acted > replays.calls && replays.probes > 0;
    if (wanted && !connection.over && replays.alike !== false) {
      replays.probes--;
      replays.calls = this.#acted;
      await connection.close();
      try {
        await this.#probe(AbortSignal.timeout(probeMs));
      } catch {
        // That it differs was noted; that the server is gone is seen by who needs it.
      }
    }
    this.evict();
  }

  /**
   * After the first action of all: takes it again in a second session, so that trajectories know whether
   * they may branch before any does. A server that has no second session is asked when the first trajectory
   * ends.
   */
  async #tryElsewhere(): Promise<void> {
    const { sessions, peer, replays } = this.#shared;
    if (!sessions.room) return;
    const signal = AbortSignal.timeout(probeMs);
    const copy = new World(this.#shared);
    copy.#become(this);
    let connection: Connection | undefined;
    try {
      connection = await Connection.open(peer, signal);
      replays.probes--;
      replays.calls = this.#acted;
      await copy.#again(connection, signal);
    } catch {
      // That it differs was noted; what else went wrong is seen by who needs the server.
    } finally {
      await connection?.close();
    }
  }

  get #acted(): number {
    return this.#taken.filter(({ seen }) => seen.acted).length;
  }

  #become(other: World): void {
    this.#reset = other.#reset;
    this.#said = other.#said;
    this.#before = other.#before;
    this.#taken.push(...other.#taken);
    this.done = other.done;
  }

  /** Takes everything again in the place of its own session, which is free some milliseconds after its end. */
  async #probe(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        this.#connection = await Connection.open(this.#shared.peer, signal);
        break;
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== "CAPACITY_REACHED") throw error;
        await new Promise((resolve) => setTimeout(resolve, 25));
        signal.throwIfAborted();
      }
    }
    await this.#again(this.#connection, signal);
  }

  async #begin(connection: Connection, data: Json, signal?: AbortSignal): Promise<string> {
    const answer = await connection.ask("reset", data, signal);
    this.#before = objectOf(answer["observation"]);
    this.done = answer["done"] === true;
    return this.#shared.observe(this.#before);
  }

  async #step(connection: Connection, action: object, signal?: AbortSignal): Promise<Seen> {
    try {
      const answer = await connection.ask("step", action, signal);
      const observation = objectOf(answer["observation"]);
      const text = this.#shared.observe(observation, this.#before);
      this.#before = observation;
      const reward = answer["reward"];
      return {
        ...{ text, ok: true, acted: true, done: answer["done"] === true },
        ...(reward === null || reward === undefined ? {} : { reward: Number(reward) }),
      };
    } catch (error) {
      // The model wrote it, the world is as it was: the model reads what was wrong.
      if (error instanceof Refusal && error.code === "VALIDATION_ERROR") {
        return { text: invalid(error.data), ok: true, acted: false, done: this.done };
      }
      if (error instanceof Refusal && error.code === "EXECUTION_ERROR") {
        return { text: error.message, ok: false, acted: true, done: this.done };
      }
      throw error;
    }
  }

  /** Takes everything again in another session: it must be seen alike. */
  async #again(connection: Connection, signal?: AbortSignal): Promise<void> {
    const wasDone = this.done;
    const said = await this.#begin(connection, this.#reset!, signal);
    if (said !== this.#said) this.#differs("the reset", this.#said, said);
    for (const [i, { action, seen }] of this.#taken.entries()) {
      const now = await this.#step(connection, action, signal);
      const key = (one: Seen) => JSON.stringify([one.text, one.ok, one.reward ?? null, one.done]);
      if (key(now) !== key(seen)) this.#differs(`call ${i + 1}`, key(seen), key(now));
    }
    this.done = wasDone;
    if (this.#acted > 0) this.#shared.replays.alike ??= true;
  }

  #differs(what: string, before: string, now: string): never {
    const { replays, name } = this.#shared;
    const short = (text: string) => JSON.stringify(text.slice(0, 120));
    const message = `this environment cannot branch: after a reset with the same seed, ${what} of ${name} must answer as before, ${short(before)}, got ${short(now)}`;
    if (replays.alike !== false) note(message);
    replays.alike = false;
    throw new Error(message);
  }
}

const objectOf = (value: unknown): Json =>
  isRecord(value)
    ? (value as Json)
    : value === undefined || value === null
      ? {}
      : { message: typeof value === "string" ? value : JSON.stringify(value) };
