import type { MainInspector } from "../process/main-inspector.js";
import type { Breakpoints } from "./breakpoints.js";
import type { CellFiles } from "./cell-files.js";
import type { Paused } from "./protocol.js";
import type { Scripts } from "./scripts.js";

/**
 * Files that begin to run while somebody debugs, whoever has loaded them: a cell's import, or Node for a
 * configuration. V8 stops before a script's first line; its breakpoints are set there, and it continues. Only
 * while a file has a breakpoint: each script costs a stop.
 */
export class Arrivals {
  readonly #inspector: MainInspector;
  readonly #cells: CellFiles;
  readonly #scripts: Scripts;
  readonly #breakpoints: Breakpoints;
  /** V8's name for what makes it stop. */
  #following: string | undefined;

  constructor(
    inspector: MainInspector,
    cells: CellFiles,
    scripts: Scripts,
    breakpoints: Breakpoints,
  ) {
    this.#inspector = inspector;
    this.#cells = cells;
    this.#scripts = scripts;
    this.#breakpoints = breakpoints;
  }

  /** After breakpoints have been set or taken away. */
  async follow(): Promise<void> {
    const { paths } = this.#breakpoints;
    const isWanted = this.#breakpoints.isOn && paths.some((path) => !this.#cells.isCell(path));
    const breakpointId = this.#following;
    if (isWanted === (breakpointId !== undefined)) return;
    if (breakpointId !== undefined) {
      this.#following = undefined;
      await this.#inspector.post("Debugger.removeBreakpoint", { breakpointId });
      return;
    }
    const instrumentation = "beforeScriptExecution";
    const made = await this.#inspector.post<{ breakpointId: string }>(
      "Debugger.setInstrumentationBreakpoint",
      { instrumentation },
    );
    this.#following = made.breakpointId;
  }

  /** Whether V8 has stopped before a script. */
  static isOne({ reason }: Paused): boolean {
    return reason === "instrumentation";
  }

  /** Sets the breakpoints of the script that V8 has stopped before. */
  async arrived({ data }: Paused): Promise<void> {
    const { scriptId } = data as { scriptId: string };
    const path = this.#scripts.pathOf(scriptId);
    if (path === undefined || !this.#breakpoints.has(path)) return;
    const script = await this.#scripts.of(scriptId);
    if (script !== undefined) await this.#breakpoints.apply(script);
  }
}
