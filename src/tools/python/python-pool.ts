import { strip } from "../../base/text/python-text.js";
import { utf8Length } from "#platform/bytes";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { inTime } from "../../base/concurrency/in-time.js";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import { type Hold, PythonChild, WorkerDied } from "./python-child.js";
import type { ChildReply } from "./protocol.js";

/** Limits of every call of a pool. */
export interface PythonLimits {
  /** Milliseconds of one call. Default 120,000. */
  timeoutMs?: number;
  /** MiB an interpreter may grow to. Default 512. */
  memoryMb?: number;
  /** Characters the model is shown at most; the rest is replaced by a notice. Default 100,000. */
  maxOutput?: number;
  /** Interpreters kept warm. Default: the processors of this machine, at most 4. */
  workers?: number;
}

/** How one piece of code ended. */
export interface PythonRun {
  /** What the model reads: stripped standard output on success, else stripped standard error. */
  text: string;
  /** Exit status 0. */
  ok: boolean;
  /** The exit status; undefined when it was stopped or its interpreter broke. */
  status?: number;
  /** It was stopped by its time limit. */
  timedOut: boolean;
}

const graceMs = 300;

/**
 * Interpreters kept warm, one call at a time each. One that does not stop in time, breaks or
 * outgrows its memory is killed and replaced.
 */
export class PythonPool {
  readonly #starts: { light: Hold; heavy: Hold };
  readonly #limits: Required<PythonLimits>;
  readonly #semaphore: Semaphore;
  readonly #idle = { light: [] as PythonChild[], heavy: [] as PythonChild[] };
  readonly #all = new Set<PythonChild>();
  #disposed = false;

  /** `heavy` starts a worker for code that uses large packages; give the same twice for no such tier. */
  constructor(starts: { light: Hold; heavy: Hold }, limits: Required<PythonLimits>) {
    checkArguments("run Python", { starts, limits }, { starts: "object", limits: "object" });
    this.#starts = starts;
    this.#limits = limits;
    this.#semaphore = new Semaphore(limits.workers);
  }

  /** Starts an interpreter ahead of the first call. */
  async warm(count = this.#limits.workers): Promise<void> {
    const started = Array.from({ length: count }, () => this.#start("light"));
    await Promise.all(started.map((child) => child.ready));
    this.#idle.light.push(...started);
  }

  /** Runs code as `python -c` would, in a fresh interpreter as far as the code can tell. */
  run(code: string, call: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<PythonRun> {
    const asked = performance.now();
    return this.#semaphore.run(() => {
      // Waiting for an interpreter is part of the caller's time, not of the code's own limit.
      const left = (call.timeoutMs ?? Infinity) - (performance.now() - asked);
      return this.#run(code, Math.max(1, Math.min(this.#limits.timeoutMs, left)), call.signal);
    }, call.signal);
  }

  /** What would be run: the code with its last expression printed. */
  preprocess(code: string): Promise<string> {
    return this.#semaphore.run(async () => {
      const reply = await this.#with("light", 10_000, undefined, (child) =>
        child.ask({ kind: "preprocess", code, timeoutMs: 10_000, outputBytes: 0 }),
      );
      if (reply === "late") throw new RangeError("Cannot preprocess: no answer within 10 s");
      return reply.text ?? "";
    });
  }

  /** Interpreters alive, busy and idle. */
  get size(): number {
    return this.#all.size;
  }

  /** Process ids of the interpreters. */
  get pids(): number[] {
    return [...this.#all].flatMap((child) => child.pid ?? []);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#all].map((child) => child.killed()));
    this.#all.clear();
  }

  async #run(code: string, timeoutMs: number, signal?: AbortSignal): Promise<PythonRun> {
    const tier = /\b(sympy|mpmath)\b/.test(code) ? "heavy" : "light";
    const limit = this.#limits.maxOutput;
    let reply: ChildReply | "late";
    const ask = (child: PythonChild) =>
      child.ask({ kind: "run", code, timeoutMs, outputBytes: 4 * limit + 4 });
    try {
      reply = await this.#with(tier, timeoutMs, signal, ask).catch((error: unknown) => {
        if (!(error instanceof WorkerDied) || !error.isStranger || this.#disposed) throw error;
        // The code has not done that, and may not have begun: it has another interpreter, once.
        return this.#with(tier, timeoutMs, signal, ask, "newest");
      });
    } catch (error) {
      if (!(error instanceof WorkerDied) || this.#disposed || signal?.aborted) throw error;
      // The code broke its interpreter, as it may break a python of its own: that is its answer.
      return { text: brokenText, ok: false, timedOut: false };
    }
    if (reply === "late" || reply.late) {
      return { text: timeoutText(timeoutMs), ok: false, timedOut: true };
    }
    if (reply.crashed) return { text: brokenText, ok: false, timedOut: false };
    const ok = reply.status === 0;
    const text = ok
      ? shown(reply.out ?? "", reply.outTotal ?? 0, limit)
      : shown(reply.err ?? "", reply.errTotal ?? 0, limit);
    return { text, ok, status: reply.status, timedOut: false };
  }

  #start(tier: "light" | "heavy"): PythonChild {
    if (this.#disposed)
      throw new TypeError("Cannot run Python: the pool must be open, got a disposed one");
    const child = new PythonChild(this.#starts[tier]);
    this.#all.add(child);
    return child;
  }

  /** Lends an interpreter to a task; it comes back only if it is still good. */
  async #with(
    tier: "light" | "heavy",
    timeoutMs: number,
    signal: AbortSignal | undefined,
    task: (child: PythonChild) => Promise<ChildReply>,
    which: "oldest" | "newest" = "oldest",
  ): Promise<ChildReply | "late"> {
    // The one that has waited longest: the others may still be putting their memory back.
    const next = () => (which === "oldest" ? this.#idle[tier].shift() : this.#idle[tier].pop());
    let child = next();
    while (child && !child.alive) {
      this.#all.delete(child);
      child = next();
    }
    child ??= this.#start(tier);
    // Somebody else ended it while it was starting: another one starts, once.
    const failed = await child.ready.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failed instanceof WorkerDied && failed.isStranger && !this.#disposed) {
      this.#drop(child);
      child = this.#start(tier);
    }
    let started = false;
    const isLate = new Error("late");
    try {
      try {
        await child.ready; // Starting is not the code's time.
        started = true;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`Cannot start Python: ${why}`, { cause: error });
      }
      const limit = { ms: timeoutMs + graceMs, late: () => isLate, signal };
      const reply = await inTime(task(child), limit).catch((error: unknown) => {
        if (error === isLate) return "late" as const;
        throw error;
      });
      if (reply === "late" || this.#disposed) this.#replace(child, tier);
      // Calls that end their interpreter often come in rows: the next one finds a fresh one that is ready.
      else if (reply.retiring) this.#replace(child, tier, 1);
      else this.#idle[tier].push(child);
      return reply;
    } catch (error) {
      if (started) this.#replace(child, tier);
      else this.#drop(child);
      throw error;
    }
  }

  /** Ends an interpreter and starts another ahead of the next call, and as many spare ones. */
  #replace(child: PythonChild, tier: "light" | "heavy", spare = 0): void {
    this.#drop(child);
    while (!this.#disposed && this.#all.size < this.#limits.workers + spare) {
      this.#idle[tier].push(this.#start(tier));
    }
  }

  #drop(child: PythonChild): void {
    child.kill();
    this.#all.delete(child);
  }
}

/** What the model reads when its code broke the interpreter (a stack overflow in C, a kill). */
export const brokenText = "Execution failed: the interpreter crashed";

const timeoutText = (ms: number) =>
  `Execution timed out after ${Math.round(ms / 100) / 10} seconds`;

/** Line ends and strip as Python reads a process's text, then the cut to `limit` with a notice. */
function shown(text: string, totalBytes: number, limit: number): string {
  const whole = utf8Length(text) >= totalBytes;
  const stripped = strip(text.replace(/\r\n?/g, "\n"));
  if (whole && stripped.length <= limit) return stripped;
  return `${stripped.slice(0, limit)}\n[output cut: the first ${limit} characters of ${totalBytes} bytes]`;
}
