import { names } from "../../contract/added.js";
import type { MainInspector } from "../process/main-inspector.js";
import { Arrivals } from "./arrivals.js";
import type { Breakpoints } from "./breakpoints.js";
import { isError, type Json, type Paused, Refusal } from "./protocol.js";
import { Frames } from "./frames.js";
import type { Script, Scripts } from "./scripts.js";
import type { Step, Stepping } from "./stepping.js";
import type { Debugger } from "node:inspector";

/** A cell's code stands in a function that begins so: this is the place behind it. */
const inside = { lineNumber: 0, columnNumber: `(async (${names.scope}) => {`.length };

/**
 * The stop before a cell's first line, for a pause that was asked for while nothing ran. In what the kernel
 * has put there: next to line 1 there may be a function's line, or a loop's head at which V8 stops nowhere.
 */
class Entry {
  readonly #inspector: MainInspector;
  /** V8's name for it. */
  #name: string | undefined;

  constructor(inspector: MainInspector) {
    this.#inspector = inspector;
  }

  async set({ at }: Script): Promise<void> {
    await this.remove();
    const { breakpointId } = await this.#inspector.post<Debugger.SetBreakpointByUrlReturnType>(
      "Debugger.setBreakpointByUrl",
      { ...at, ...inside },
    );
    this.#name = breakpointId;
  }

  isAt({ hitBreakpoints = [] }: Paused): boolean {
    return this.#name !== undefined && hitBreakpoints.includes(this.#name);
  }

  async remove(): Promise<void> {
    const breakpointId = this.#name;
    this.#name = undefined;
    if (breakpointId !== undefined) {
      await this.#inspector.post("Debugger.removeBreakpoint", { breakpointId });
    }
  }
}

/** Where the program stands. */
interface Stop {
  paused: Paused;
  frames: Frames;
}

interface StopsParts {
  inspector: MainInspector;
  scripts: Scripts;
  breakpoints: Breakpoints;
  arrivals: Arrivals;
  stepping: Stepping;
  isRunning: () => boolean;
  tell: (event: "stopped" | "continued", body: Json) => void;
  /** The program goes on: what belongs to a stop is over. */
  over: () => Promise<void>;
}

/** There is one thread that runs cells. */
export const threadId = 1;

/** Milliseconds until a pause is asked for again. */
const AGAIN = 100;

/** When the program stops, stands and continues. */
export class Stops {
  readonly #parts: StopsParts;
  readonly #entry: Entry;
  #current: Stop | undefined;
  #frameIds = 0;
  #isOn = false;
  #isPausing = false;
  #isInterrupting = false;

  constructor(parts: StopsParts) {
    this.#parts = parts;
    this.#entry = new Entry(parts.inspector);
  }

  get current(): Stop | undefined {
    return this.#current;
  }

  /** The same for what only makes sense while the program stands. */
  get standing(): Stop {
    if (this.#current !== undefined) return this.#current;
    throw new Refusal("Cannot do that now: the program is running, or has ended");
  }

  /** Hears V8 from now on. */
  begin(): void {
    const { inspector } = this.#parts;
    inspector.on<Paused>("Debugger.paused", (paused) => void this.#paused(paused));
    inspector.on("Debugger.resumed", () => void this.#resumed());
    this.#isOn = true;
  }

  /** Before V8 forgets everything: a pause is over. */
  async leave(): Promise<void> {
    await this.#entry.remove();
    this.#isOn = this.#isPausing = false;
    this.#parts.stepping.stop();
  }

  /** After that: a program that stood continues. */
  async end(): Promise<void> {
    await this.#resumed();
    for (const event of ["paused", "resumed"]) this.#parts.inspector.off(`Debugger.${event}`);
  }

  /** Before a cell runs. */
  async beforeRun(cell: Script): Promise<void> {
    if (this.#isPausing) await this.#entry.set(cell);
  }

  /** A cell that ended before its first line, one of types say, is not stopped in later. */
  afterRun(): void {
    void this.#entry.remove();
  }

  async pause(): Promise<void> {
    if (!this.#isOn) throw new Refusal("Cannot pause: attach comes first");
    if (this.#current !== undefined) return;
    this.#isPausing = true;
    // Where nothing runs, the next cell is stopped at its first line.
    if (this.#parts.isRunning()) await this.#insist();
  }

  async continue(): Promise<void> {
    void this.standing;
    await this.#post("resume");
  }

  async step(step: Step): Promise<void> {
    const { scripts, stepping } = this.#parts;
    const visible = this.standing.paused.callFrames.find((frame) => scripts.shows(frame));
    await stepping.begin(step, visible);
  }

  /**
   * An interrupt is to find the thread running, and is no error to stop at. A cell that stands ends where
   * it stands: what comes after the line must not run.
   */
  async interrupting(): Promise<void> {
    if (!this.#isOn) return;
    this.#isInterrupting = true;
    this.#parts.stepping.stop();
    this.#isPausing = false;
    const skipping = this.#post("setSkipAllPauses", { skip: true });
    if (this.#current !== undefined) {
      void this.#post("resume", { terminateOnResume: true }).catch(() => undefined);
    }
    await skipping;
  }

  async interrupted(): Promise<void> {
    if (!this.#isInterrupting) return;
    this.#isInterrupting = false;
    await this.#post("setSkipAllPauses", { skip: false });
  }

  /** V8 forgets a pause that comes while the thread is in native code: it is asked for until it is there. */
  async #insist(): Promise<void> {
    if (!this.#isPausing || !this.#isOn || this.#current !== undefined) return;
    await this.#post("pause");
    setTimeout(() => void this.#insist(), AGAIN).unref();
  }

  async #paused(paused: Paused): Promise<void> {
    const { scripts, stepping, arrivals } = this.#parts;
    const { reason, hitBreakpoints = [], callFrames } = paused;
    const goOn = async (): Promise<void> => void (await this.#post("resume"));
    if (Arrivals.isOne(paused)) {
      await arrivals.arrived(paused).finally(goOn);
      return;
    }
    if (this.#isInterrupting) return goOn();
    const atError = isError(reason);
    if (stepping.isGoing && hitBreakpoints.length === 0 && !atError) {
      if (!(await stepping.arrived(paused))) return;
      return this.#stand(paused, this.#isPausing ? "pause" : "step");
    }
    const [top] = callFrames;
    if (this.#entry.isAt(paused) && hitBreakpoints.length === 1) {
      // On to what somebody wrote; a cell that has nothing of the kind runs through.
      return stepping.begin("next", top);
    }
    if (atError && (top === undefined || !scripts.shows(top))) return goOn();
    if (atError) return this.#stand(paused, "exception");
    if (hitBreakpoints.length > 0) return this.#stand(paused, "breakpoint");
    return this.#stand(paused, this.#isPausing ? "pause" : "breakpoint");
  }

  async #stand(paused: Paused, reason: string): Promise<void> {
    const { scripts, stepping, breakpoints, tell } = this.#parts;
    const frames = await Frames.of(paused, scripts, this.#frameIds);
    this.#frameIds += paused.callFrames.length + 1000;
    if (frames.list.length === 0) {
      // Between two turns of what the cell does: it is asked for again.
      await this.#post("resume");
      return;
    }
    // Only now: a stop between two turns must not take the next cell's first line away.
    await this.#entry.remove();
    stepping.stop();
    this.#isPausing = false;
    this.#current = { paused, frames };
    const { description } = (paused.data ?? {}) as { description?: string };
    const text = reason === "exception" ? description?.split("\n    at ")[0] : undefined;
    tell("stopped", {
      reason,
      threadId,
      allThreadsStopped: true,
      preserveFocusHint: false,
      hitBreakpointIds: breakpoints.hit(paused.hitBreakpoints ?? []),
      ...(text !== undefined && { text, description: text }),
    });
  }

  async #resumed(): Promise<void> {
    if (this.#current === undefined) return;
    this.#current = undefined;
    this.#parts.tell("continued", { threadId, allThreadsContinued: true });
    await this.#parts.over();
  }

  async #post(method: string, params: object = {}): Promise<void> {
    await this.#parts.inspector.post(`Debugger.${method}`, params);
  }
}
