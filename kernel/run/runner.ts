import { evaluate } from "#kernel-platform/evaluate";
import type { FormatValue } from "../display/displayable.js";
import { InterruptError, type MimeBundle } from "../host/host.js";
import type { CellScope } from "../contract/compiler.js";
import type { Outcome, RunRequest } from "../contract/bridge.js";
import { RunningCell, runAs } from "./cell.js";
import type { Channel } from "./channel.js";
import { runUncaught } from "./debug/run-uncaught.js";
import { enterKernel, leaveKernel, restoredText } from "./intrinsics.js";
import type { Tracebacks } from "./traceback.js";

type Compiled = (scope: CellScope) => Promise<{ value: unknown } | undefined>;

/** What running a cell needs. */
interface RunnerParts {
  channel: Channel;
  tracebacks: Tracebacks;
  /** Called when the first cell arrives. */
  scope: () => Promise<CellScope>;
  format: () => FormatValue | Promise<FormatValue>;
  /** Whether errors that nobody catches are to be seen as such: see run-uncaught.ts. */
  findsUncaught: () => boolean;
}

/** Runs one cell at a time and says how each ended, exactly once. */
export class Runner {
  readonly #parts: RunnerParts;
  #scope: CellScope | undefined;
  #isInCell = false;
  #running: { cell: RunningCell; request: RunRequest } | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** The session's variables; none before its first cell. */
  get variables(): Record<string, unknown> {
    return this.#scope?.variables ?? {};
  }

  /** Whether the code of a cell has begun and not ended. */
  get isInCell(): boolean {
    return this.#isInCell;
  }

  /** Gives the session a variable that no cell has. */
  declare(name: string, value: unknown): void {
    this.#scope?.declare(name, value);
  }

  /** Starts a cell, which outlives its end: its timers and promises belong to it. */
  run(request: RunRequest): RunningCell {
    const cell = new RunningCell(request.id, request.count, request.allowStdin, request.cellId);
    this.#running = { cell, request };
    this.#parts.tracebacks.add(request.filename, request.count, request.source, request.map);
    // Not awaited by the kernel: an interrupt can take a pending promise with it.
    void this.#settle(cell, request);
    return cell;
  }

  /** Awaits and never calls `then`, which a cell may have replaced. */
  async #settle(cell: RunningCell, request: RunRequest): Promise<void> {
    const { id } = request;
    try {
      const bundle = await runAs(cell, () => this.#evaluate(request));
      this.#finish(id, { status: "ok", bundle });
    } catch (error) {
      const status = isInterrupt(error) ? "interrupted" : "error";
      this.#restore(id);
      this.#finish(id, { status, error: this.#parts.tracebacks.report(error) });
    }
  }

  /** Ends the running cell; what it still waits for is told through its signal. */
  interrupt(): void {
    const running = this.#running;
    if (running === undefined) return;
    const { name: ename, message: evalue } = new InterruptError();
    const error = { ename, evalue, traceback: [evalue] };
    this.#finish(running.request.id, { status: "interrupted", error });
  }

  async #evaluate(request: RunRequest): Promise<MimeBundle | undefined> {
    const { js, filename, kind, silent } = request;
    if (this.#scope === undefined) {
      this.#scope = await this.#parts.scope();
      this.#parts.tracebacks.modules = this.#scope.maps;
    }
    const compiled = evaluate(js, filename) as Compiled;
    const scope = this.#scope;
    this.#isInCell = true;
    leaveKernel();
    const result = await (this.#parts.findsUncaught()
      ? runUncaught(() => compiled(scope))
      : compiled(scope));
    this.#restore(request.id);
    if (result === undefined || result.value === undefined) return undefined;
    if (silent && kind === "cell") return undefined;
    const plain = plainText(result.value);
    if (plain !== undefined) return { "text/plain": plain };
    return await (
      await this.#parts.format()
    )(result.value);
  }

  /** Puts back what the cell took away of what the kernel itself needs, and says so in its output. */
  #restore(id: string): void {
    enterKernel();
    this.#isInCell = false;
    const restored = restoredText();
    if (restored !== undefined) this.#parts.channel.stream(id, "stderr", restored);
  }

  #finish(id: string, outcome: Outcome): void {
    if (this.#running?.request.id !== id) return;
    const { cell } = this.#running;
    this.#running = undefined;
    this.#restore(id);
    // What the cell started and did not wait for hears of it too.
    if (outcome.status === "interrupted") cell.abort(new InterruptError());
    const { channel } = this.#parts;
    const made = this.#scope?.made(id) ?? { defined: [], assigned: [] };
    try {
      channel.send({ type: "done", id, outcome, made });
    } catch (error) {
      // A bundle that cannot be copied to another thread, such as one that holds a function.
      const report = this.#parts.tracebacks.report(error);
      channel.send({ type: "done", id, outcome: { status: "error", error: report }, made });
    }
  }
}

/** `instanceof` asks a proxy, which may throw. */
function isInterrupt(error: unknown): boolean {
  try {
    return error instanceof InterruptError;
  } catch {
    return false;
  }
}

/** Numbers, booleans and the like need no formatter. */
function plainText(value: unknown): string | undefined {
  switch (typeof value) {
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "boolean":
      return String(value);
    case "bigint":
      return `${value}n`;
    default:
      return undefined;
  }
}
