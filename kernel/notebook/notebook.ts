import type { MimeBundle } from "../host/host.js";

/** Text as notebook files keep it: whole, or a list of lines with their ends. */
export type Multiline = string | string[];

/** One thing a cell showed, as the file keeps it. */
export type NotebookOutput =
  | { output_type: "stream"; name: "stdout" | "stderr"; text: Multiline }
  | { output_type: "display_data"; data: MimeBundle; metadata: Record<string, unknown> }
  | {
      output_type: "execute_result";
      execution_count: number | null;
      data: MimeBundle;
      metadata: Record<string, unknown>;
    }
  | { output_type: "error"; ename: string; evalue: string; traceback: string[] };

/** A cell; fields this package knows nothing of are kept. */
export interface NotebookCell {
  cell_type: "code" | "markdown" | "raw";
  id: string;
  source: Multiline;
  metadata: Record<string, unknown>;
  execution_count?: number | null;
  outputs?: NotebookOutput[];
  attachments?: Record<string, MimeBundle>;
}

/** A notebook of format 4. */
export interface Notebook {
  cells: NotebookCell[];
  metadata: Record<string, unknown>;
  nbformat: 4;
  nbformat_minor: number;
}

/** Text that may be kept as lines, in one piece. */
export function joinLines(text: Multiline): string {
  return typeof text === "string" ? text : text.join("");
}

/** Text as the list of lines that Jupyter writes. */
export function splitLines(text: string): string[] {
  return text === "" ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
}

/** The tags of a cell. */
export function tagsOf(cell: NotebookCell): string[] {
  const { tags } = cell.metadata;
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}
