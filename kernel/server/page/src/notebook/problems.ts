import {
  type Diagnostic,
  forEachDiagnostic,
  nextDiagnostic,
  setDiagnostics,
} from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import type { Cell } from "@jupyterlab/cells";
import type { CodeMirrorEditor } from "@jupyterlab/codemirror";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";
import { type CodeCell, codeCells } from "./code-cells.js";
import { KernelLine } from "./kernel-line.js";

/** Milliseconds without a key until the kernel is asked about a text. */
const pause = 500;

const command = "arpo-lab:next-problem";

/** A place in a cell's text, and what the compiler says of it. */
interface Fault {
  severity: "error" | "warning";
  message: string;
  start: number;
  length: number;
}

type Line = KernelLine<{ cells: CodeCell[]; of: string }, { diagnostics: Fault[] }>;

const viewOf = (cell: Cell | null | undefined): EditorView | undefined =>
  (cell?.editor as CodeMirrorEditor | null | undefined)?.editor;

/** Underlines what is wrong in the texts of one notebook that a person edits; other cells stay as they are. */
class Problems {
  readonly #panel: NotebookPanel;
  /** Each cell's text when it was last looked at. */
  readonly #texts = new Map<string, string>();
  readonly #marked = new Set<string>();
  #line: Line | undefined;
  #kernel: Kernel.IKernelConnection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(panel: NotebookPanel) {
    this.#panel = panel;
    const { content, sessionContext } = panel;
    const entered = (): void => {
      const model = content.activeCell?.model;
      if (model?.type === "code" && !this.#texts.has(model.id))
        this.#texts.set(model.id, model.sharedModel.getSource());
    };
    entered();
    content.activeCellChanged.connect(entered);
    content.modelContentChanged.connect(() => {
      const model = content.activeCell?.model;
      if (model?.type !== "code" || this.#texts.get(model.id) === model.sharedModel.getSource())
        return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#look(model.id), pause);
    });
    // What a cell declares may fix another one.
    sessionContext.iopubMessage.connect((_, { header, parent_header }) => {
      const isReply = (parent_header as { msg_type?: string }).msg_type === "execute_request";
      if (header.msg_type !== "status" || !isReply || this.#marked.size === 0) return;
      for (const id of this.#marked) void this.#look(id);
    });
    panel.disposed.connect(() => clearTimeout(this.#timer));
  }

  async #look(id: string): Promise<void> {
    const { content, sessionContext } = this.#panel;
    const kernel = sessionContext.session?.kernel;
    const cells = codeCells(this.#panel);
    const source = cells.find((cell) => cell.id === id)?.source;
    if (kernel == null || source === undefined) return void this.#marked.delete(id);
    if (this.#line?.isOpen !== true || this.#kernel !== kernel)
      this.#line = new KernelLine(kernel, "arpo-lab.diagnose");
    this.#kernel = kernel;
    this.#texts.set(id, source);
    const answer = await this.#line.ask({ cells, of: id });
    if (answer === undefined || this.#panel.isDisposed) return;
    const cell = content.widgets.find(({ model }) => model.id === id);
    // Another key has been pressed: the next answer is for that text.
    if (cell?.model.sharedModel.getSource() !== source) return;
    this.#show(cell, answer.diagnostics);
  }

  #show(cell: Cell, faults: readonly Fault[]): void {
    const view = viewOf(cell);
    if (view === undefined) return;
    const end = view.state.doc.length;
    const told: Diagnostic[] = faults.map(({ severity, message, start, length }) => ({
      from: Math.min(start, end),
      to: Math.min(start + length, end),
      severity,
      message,
    }));
    this.#marked[told.length > 0 ? "add" : "delete"](cell.model.id);
    view.dispatch(setDiagnostics(view.state, told));
  }
}

/** Goes to the next problem of the active cell and reads it out. */
function toNext(view: EditorView): void {
  if (!nextDiagnostic(view)) return;
  const { from, to } = view.state.selection.main;
  forEachDiagnostic(view.state, ({ message }, start, end) => {
    if (start === from && end === to) view.dispatch({ effects: EditorView.announce.of(message) });
  });
}

/** Says while a person types what would keep a cell from running. */
export const problems: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:problems",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, palette: ICommandPalette | null) => {
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel: NotebookPanel) => void new Problems(panel),
    });
    app.commands.addCommand(command, {
      label: "Go to Next Problem",
      caption: "Go to the next place that keeps the cell from running (Alt F8)",
      isEnabled: () => viewOf(tracker.activeCell) !== undefined,
      execute: () => {
        const view = viewOf(tracker.activeCell);
        if (view !== undefined) toNext(view);
      },
    });
    app.commands.addKeyBinding({ command, keys: ["Alt F8"], selector: ".jp-Notebook" });
    palette?.addItem({ command, category: "Notebook Cell Operations" });
  },
};
