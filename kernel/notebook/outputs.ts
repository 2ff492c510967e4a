import type { MimeBundle } from "../host/host.js";
import { joinLines, type NotebookCell, type NotebookOutput, splitLines } from "./notebook.js";

/** An iopub message, as far as outputs are concerned. */
export interface OutputMessage {
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
  readonly #displays = new Map<string, NotebookOutput[]>();
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
      this.#displays.set(id, [...(this.#displays.get(id) ?? []), output]);
    }
    return true;
  }

  /** Brings collected streams into the cells; call before writing a file. */
  settle(): void {
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
    for (const output of this.#displays.get(String(id)) ?? []) {
      if (output.output_type === "display_data" || output.output_type === "execute_result") {
        output.data = fileBundle(content["data"]);
        output.metadata = objectOf(content["metadata"]);
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
