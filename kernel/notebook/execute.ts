import { checkOptions, type OptionRules, positive } from "../../common/options/check-options.js";
import { KernelClient } from "../client/kernel-client.js";
import { KernelDiedError } from "../client/kernel-process.js";
import type { KernelSpec } from "../client/kernel-spec.js";
import type { MimeBundle } from "../host/host.js";
import {
  joinLines,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  splitLines,
  tagsOf,
} from "./notebook.js";

/** An iopub message, as far as outputs are concerned. */
interface OutputMessage {
  type: string;
  content: Record<string, unknown>;
}

const jsonMime = /^application\/(?:json|.*\+json)$/;
const splitMime = /^(?:text\/|application\/javascript$|image\/svg\+xml$)/;

/** A bundle as files keep it: text in lines, types sorted. */
function fileBundle(value: unknown): MimeBundle {
  const bundle = (value ?? {}) as MimeBundle;
  const out: MimeBundle = {};
  for (const mime of Object.keys(bundle).sort()) {
    const content = bundle[mime];
    if (jsonMime.test(mime)) out[mime] = content;
    else {
      const text = typeof content === "string" ? content : JSON.stringify(content);
      out[mime] = splitMime.test(mime) ? splitLines(text) : text;
    }
  }
  return out;
}

const objectOf = (value: unknown): Record<string, unknown> =>
  (value ?? {}) as Record<string, unknown>;

/**
 * Collects what the cells of a notebook show, from iopub messages, as the file keeps it: streams
 * joined, `update_display_data` wherever that display was shown, `clear_output` now or when the next
 * output comes.
 */
export class OutputCollector {
  readonly #displays = new Map<string, { cell: NotebookCell; output: NotebookOutput }[]>();
  readonly #emptied = new Set<NotebookCell>();
  readonly #clearNext = new WeakSet<NotebookCell>();
  // Streams are joined as pieces and split into lines once, or a million lines would be quadratic.
  readonly #open = new Map<NotebookOutput, string[]>();

  /** Takes one message into a cell's outputs; false for messages that are no output. */
  take(cell: NotebookCell, message: OutputMessage): boolean {
    const { type, content } = message;
    if (type === "clear_output") {
      if (content["wait"] === true) this.#clearNext.add(cell);
      else this.#clear(cell);
      return true;
    }
    if (type === "update_display_data") return this.#update(content);
    const output = this.#outputOf(type, content);
    if (output === undefined) return false;
    if (this.#clearNext.delete(cell)) this.#clear(cell);
    const outputs = (cell.outputs ??= []);
    const last = outputs.at(-1);
    if (output.output_type === "stream") {
      if (last?.output_type === "stream" && last.name === output.name) {
        const pieces = this.#open.get(last) ?? [joinLines(last.text)];
        pieces.push(String(content["text"] ?? ""));
        this.#open.set(last, pieces);
        return true;
      }
      this.#open.set(output, [String(content["text"] ?? "")]);
    }
    outputs.push(output);
    const { display_id: id } = objectOf(content["transient"]);
    if (typeof id === "string") {
      this.#displays.set(id, [...(this.#displays.get(id) ?? []), { cell, output }]);
    }
    return true;
  }

  /** Brings collected streams into the cells, without displays that were emptied; call before writing a file. */
  settle(): void {
    for (const cell of this.#emptied) {
      cell.outputs = (cell.outputs ?? []).filter(
        (output) => output.output_type !== "display_data" || Object.keys(output.data).length > 0,
      );
    }
    this.#emptied.clear();
    for (const [output, pieces] of this.#open) {
      if (output.output_type === "stream") output.text = splitLines(pieces.join(""));
    }
    this.#open.clear();
  }

  #clear(cell: NotebookCell): void {
    for (const output of cell.outputs ?? []) this.#open.delete(output);
    cell.outputs = [];
  }

  #update(content: Record<string, unknown>): boolean {
    const id = objectOf(content["transient"])["display_id"];
    for (const { cell, output } of this.#displays.get(String(id)) ?? []) {
      if (output.output_type === "display_data" || output.output_type === "execute_result") {
        output.data = fileBundle(content["data"]);
        output.metadata = objectOf(content["metadata"]);
        if (Object.keys(output.data).length === 0) this.#emptied.add(cell);
      }
    }
    return true;
  }

  #outputOf(type: string, content: Record<string, unknown>): NotebookOutput | undefined {
    const data = (): MimeBundle => fileBundle(content["data"]);
    const metadata = objectOf(content["metadata"]);
    switch (type) {
      case "stream": {
        const name = content["name"] === "stderr" ? "stderr" : "stdout";
        return { name, output_type: "stream", text: [] };
      }
      case "display_data":
        return { data: data(), metadata, output_type: "display_data" };
      case "execute_result": {
        const count = content["execution_count"];
        const execution_count = typeof count === "number" ? count : null;
        return { data: data(), execution_count, metadata, output_type: "execute_result" };
      }
      case "error":
        return {
          ename: String(content["ename"]),
          evalue: String(content["evalue"]),
          output_type: "error",
          traceback: (content["traceback"] as unknown[] | undefined)?.map(String) ?? [],
        };
      default:
        return undefined;
    }
  }
}

/** What is going on, for whoever shows it. */
export type ExecutionEvent =
  | { type: "kernel"; spec: KernelSpec }
  | { type: "start"; cell: NotebookCell; index: number; number: number; of: number }
  | {
      type: "end";
      cell: NotebookCell;
      number: number;
      of: number;
      seconds: number;
      failed: boolean;
    };

/** How a notebook is executed. */
interface ExecuteNotebookOptions {
  kernel: KernelSpec;
  /** The folder that cells run in and import from. */
  cwd: string;
  /** The most seconds a cell may take; then it is interrupted, and the kernel killed if it continues. */
  timeout?: number;
  /** Go on after a cell that failed. */
  allowErrors?: boolean;
  /** Called after every cell, and before an early end, to keep what ran. */
  save?: () => void;
  onEvent?: (event: ExecutionEvent) => void;
  /** Aborting interrupts the running cell and ends the execution. */
  signal?: AbortSignal;
}

const executeRules: OptionRules<ExecuteNotebookOptions> = {
  kernel: "object",
  cwd: "path",
  timeout: positive,
  allowErrors: "boolean?",
  save: "function?",
  onEvent: "function?",
  signal: "signal?",
};

/** A cell that failed, and how. */
export interface CellFailure {
  cell: NotebookCell;
  /** Its place among all cells, from 0. */
  index: number;
  error: Extract<NotebookOutput, { output_type: "error" }>;
}

/** How an execution ended. */
export interface NotebookExecution {
  /** Cells that ran, with or without success. */
  ran: number;
  failures: CellFailure[];
  /** True where an aborted signal ended it. */
  aborted: boolean;
}

const grace = 5000;

/** The failure of a cell for a reason of ours: kept in the notebook like any other error. */
function ourError(ename: string, evalue: string): CellFailure["error"] {
  return { ename, evalue, output_type: "error", traceback: [`${ename}: ${evalue}`] };
}

/** One cell: runs it, bounded in time, and returns its error if it failed. */
async function runCell(
  client: KernelClient,
  cell: NotebookCell,
  collector: OutputCollector,
  options: ExecuteNotebookOptions,
): Promise<CellFailure["error"] | undefined> {
  const { timeout, signal } = options;
  let cut: CellFailure["error"] | undefined;
  let force: NodeJS.Timeout | undefined;
  const stop = (ename: string, evalue: string): void => {
    if (cut !== undefined) return;
    cut = ourError(ename, evalue);
    void client.interrupt().catch(() => undefined); // a kernel that died meanwhile rejects `execute`
    force = setTimeout(() => client.process.signal("SIGKILL"), grace);
  };
  const onAbort = (): void => stop("Interrupted", "the execution was stopped");
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(
          () => stop("CellTimeoutError", `the cell must end within ${timeout} s`),
          timeout * 1000,
        );
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const reply = await client.execute(joinLines(cell.source), {
      cellId: cell.id,
      listen: (message) => {
        const count = message.content["execution_count"];
        if (message.type === "execute_input" && typeof count === "number")
          cell.execution_count = count;
        else collector.take(cell, message);
      },
    });
    const count = reply["execution_count"];
    if (typeof count === "number") cell.execution_count = count;
    if (cut !== undefined) {
      (cell.outputs ??= []).push(cut);
      return cut;
    }
    if (reply["status"] === "ok") return undefined;
    const shown = cell.outputs?.find((output) => output.output_type === "error");
    const { ename, evalue } = reply;
    return shown ?? ourError(String(ename ?? "Error"), String(evalue ?? "the cell was aborted"));
  } catch (error) {
    if (!(error instanceof KernelDiedError)) throw error;
    const killed = cut ?? ourError(error.name, error.message);
    (cell.outputs ??= []).push(killed);
    return killed;
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** True for cells that are run: code that is not blank and not tagged `skip-execution`. */
function isRunnable(cell: NotebookCell): boolean {
  return (
    cell.cell_type === "code" &&
    joinLines(cell.source).trim() !== "" &&
    !tagsOf(cell).includes("skip-execution")
  );
}

/** Removes what earlier runs left, so that a file never mixes two runs. */
export function clearOutputs(notebook: Notebook): void {
  for (const cell of notebook.cells) {
    if (cell.cell_type !== "code") continue;
    cell.outputs = [];
    cell.execution_count = null;
  }
}

/** Says in the notebook which kernel it ran in. */
function describeKernel(notebook: Notebook, client: KernelClient): void {
  const { name, displayName, language } = client.process.spec;
  notebook.metadata["kernelspec"] ??= { display_name: displayName, language, name };
  const info = client.info["language_info"];
  if (typeof info === "object" && info !== null) {
    // Sorted, as Jupyter writes it: saving the file there changes nothing.
    const fields = Object.entries(info).sort(([a], [b]) => (a < b ? -1 : 1));
    notebook.metadata["language_info"] = Object.fromEntries(fields);
  }
}

/**
 * Runs a notebook's code cells in a kernel of their own, from the first to the last or to the first
 * that fails. Outputs go into the notebook itself; a cell tagged `raises-exception` may fail.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseNotebook } from "arpo-lab/kernel";
 * import { executeNotebook, ownKernel } from "arpo-lab/experimental/kernel";
 *
 * const { notebook } = parseNotebook(
 *   JSON.stringify({
 *     nbformat: 4,
 *     nbformat_minor: 5,
 *     metadata: {},
 *     cells: [
 *       { id: "a", cell_type: "code", source: "6 * 7", metadata: {}, outputs: [], execution_count: null },
 *     ],
 *   }),
 * );
 * const { ran, failures } = await executeNotebook(notebook, { kernel: ownKernel(), cwd: "." });
 * assert.equal(ran, 1);
 * assert.deepEqual(failures, []);
 * ```
 */
export async function executeNotebook(
  notebook: Notebook,
  options: ExecuteNotebookOptions,
): Promise<NotebookExecution> {
  checkOptions("run a notebook", options, executeRules);
  const { onEvent, save, signal } = options;
  const cells = [...notebook.cells.entries()].filter(([, cell]) => isRunnable(cell));
  const collector = new OutputCollector();
  const result: NotebookExecution = { ran: 0, failures: [], aborted: false };
  onEvent?.({ type: "kernel", spec: options.kernel });
  const client = await KernelClient.start(options.kernel, { cwd: options.cwd });
  try {
    describeKernel(notebook, client);
    for (const [place, [index, cell]] of cells.entries()) {
      if (signal?.aborted === true) break;
      const [number, of, start] = [place + 1, cells.length, performance.now()];
      onEvent?.({ type: "start", cell, index, number, of });
      const error = await runCell(client, cell, collector, options);
      collector.settle();
      result.ran++;
      const failed = error !== undefined && !tagsOf(cell).includes("raises-exception");
      const seconds = (performance.now() - start) / 1000;
      save?.(); // first: a cell reported as done is one that is kept
      onEvent?.({ type: "end", cell, number, of, seconds, failed });
      if (failed) result.failures.push({ cell, index, error });
      if (!client.process.alive || (failed && options.allowErrors !== true)) break;
    }
  } finally {
    result.aborted = signal?.aborted ?? false;
    await client.shutdown();
    collector.settle();
  }
  return result;
}
