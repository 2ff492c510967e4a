import type { MainInspector } from "../process/main-inspector.js";
import type { CallFrame, Paused } from "./protocol.js";
import type { Scripts } from "./scripts.js";

export type Step = "next" | "stepIn" | "stepOut";

const commands = { next: "stepOver", stepIn: "stepInto", stepOut: "stepOut" } as const;

/** A line that takes more of V8's steps than these is stopped at once more. */
const PATIENCE = 500;

/** In the first line of a cell's script its own function begins before this column. */
const HEADER = 20;

interface Going {
  step: Step;
  /** The line and function that is to be left. */
  from: string | undefined;
  taken: number;
}

/**
 * Steps by lines of the source. V8 steps by statements of the script, of which a line may have several,
 * some written by nobody; it also stops inside of Node where that calls back.
 */
export class Stepping {
  readonly #inspector: MainInspector;
  readonly #scripts: Scripts;
  #going: Going | undefined;

  constructor(inspector: MainInspector, scripts: Scripts) {
    this.#inspector = inspector;
    this.#scripts = scripts;
  }

  get isGoing(): boolean {
    return this.#going !== undefined;
  }

  stop(): void {
    this.#going = undefined;
  }

  async begin(step: Step, frame: CallFrame | undefined): Promise<void> {
    const from = step === "stepOut" || frame === undefined ? undefined : await this.#lineOf(frame);
    this.#going = { step, from, taken: 0 };
    await this.#take(step);
  }

  /** Where V8 has stopped in a step: true when that is its end, else it has gone on. */
  async arrived({ callFrames }: Paused): Promise<boolean> {
    const going = this.#going;
    const [top] = callFrames;
    if (going === undefined || top === undefined) return true;
    const goOn = async (step: Step): Promise<false> => {
      going.taken++;
      await this.#take(step);
      return false;
    };
    const script = await this.#scripts.of(top.location.scriptId);
    if (script === undefined) {
      // Inside of Node: back to whoever called it, or on to what it calls.
      const visible = callFrames.some((frame) => this.#scripts.shows(frame));
      if (visible && going.taken < PATIENCE) {
        return goOn(going.step === "stepIn" ? "stepIn" : "stepOut");
      }
      return this.#leave();
    }
    const line = await this.#lineOf(top);
    if (line === undefined) {
      if (going.taken >= PATIENCE) return this.#leave();
      const isGetter =
        going.step === "stepIn" && callFrames.length > 1 && (await this.#isGetter(top));
      return goOn(isGetter ? "stepOut" : going.step === "stepOut" ? "next" : going.step);
    }
    if (line === going.from && going.taken < PATIENCE) return goOn(going.step);
    this.#going = undefined;
    return true;
  }

  /** `() => x`, by which a later cell reads a variable: nobody wrote it. */
  async #isGetter({ location, functionLocation: at }: CallFrame): Promise<boolean> {
    if (at === undefined || (at.lineNumber === 0 && (at.columnNumber ?? 0) < HEADER)) return false;
    const script = await this.#scripts.of(location.scriptId);
    return script?.positions.toSource({ columnNumber: 0, ...at }) === undefined;
  }

  /** The function and the line in it; undefined where nobody wrote it. */
  async #lineOf({ location, functionLocation }: CallFrame): Promise<string | undefined> {
    const { scriptId, lineNumber, columnNumber = 0 } = location;
    const script = await this.#scripts.of(scriptId);
    const place = script?.positions.toSource({ lineNumber, columnNumber });
    if (place === undefined) return undefined;
    const at = functionLocation;
    return `${scriptId}:${at?.lineNumber}:${at?.columnNumber}:${place.line}`;
  }

  async #leave(): Promise<false> {
    this.#going = undefined;
    await this.#inspector.post("Debugger.resume");
    return false;
  }

  async #take(step: Step): Promise<void> {
    await this.#inspector.post(`Debugger.${commands[step]}`);
  }
}
