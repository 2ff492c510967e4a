import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, Notification, showDialog } from "@jupyterlab/apputils";
import type { Cell } from "@jupyterlab/cells";
import { INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { CommandToolbarButton, LabIcon } from "@jupyterlab/ui-components";
import { type CodeCell, codeCells } from "./code-cells.js";
import { KernelLine } from "./kernel-line.js";

interface CellState {
  edited: boolean;
  stale: { name: string; why: "newer" | "edited" | "stale" | "gone" }[];
}

interface StaleAnswer {
  cells: Record<string, CellState>;
  plan: string[];
  loops: string[][];
  long: string[];
}

/** With `of`: what depends on that cell is the plan. */
type StaleLine = KernelLine<{ cells: CodeCell[]; of?: string }, StaleAnswer>;

/** Milliseconds without a key until the kernel is asked about an edited text. */
const pause = 300;

const commands = {
  stale: "arpo-lab:run-stale",
  dependents: "arpo-lab:run-dependents",
  byItself: "arpo-lab:run-dependents-by-itself",
} as const;

function drawn(name: string, path: string): LabIcon {
  const svgstr =
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">' +
    `<path class="jp-icon3" fill="#616161" d="${path}"/></svg>`;
  return new LabIcon({ name: `arpo-lab:${name}`, svgstr });
}
/** A ring that is not closed, around the sign of running; and a cell that leads to two below it. */
const staleIcon = drawn(
  "stale",
  "M12 3a9 9 0 1 0 9 9h-2a7 7 0 1 1-7-7v4l6-5-6-5zM10 8.5v7l5.5-3.5z",
);
const dependentsIcon = drawn(
  "dependents",
  "M4 3h7v5H8.5v3H17V9l5 3-5 3v-2H8.5v5H17v-2l5 3-5 3v-2H6.5V8H4z",
);

/** Why a cell is marked, in a sentence for each name. */
function reasons({ edited, stale }: CellState): string[] {
  const told = stale.map(({ name, why }) => {
    if (why === "newer") return `${name} was declared or assigned again since`;
    if (why === "gone") return `the cell that declared ${name} is gone`;
    return `the cell that declared ${name} is ${why}`;
  });
  return edited ? ["the text differs from what ran", ...told] : told;
}

function element(tag: string, className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Puts the mark of a cell beside it, and the warning below its text. */
function mark(cell: Cell, state: CellState | undefined): void {
  const key = state === undefined ? "" : JSON.stringify(state);
  if (cell.node.dataset["arpoStale"] === key) return;
  for (const old of cell.node.querySelectorAll(".arpo-Stale, .arpo-Stale-warning")) old.remove();
  cell.node.dataset["arpoStale"] = key;
  cell.toggleClass("arpo-mod-stale", state !== undefined);
  const wrapper = cell.node.querySelector(".jp-Cell-inputWrapper");
  if (state === undefined || wrapper === null) return;
  const why = reasons(state).join("; ");
  const word = element("span", "arpo-Stale", state.edited ? "edited" : "stale");
  word.title = `This cell is ${word.textContent}: ${why}`;
  word.append(element("span", "arpo-Stale-hidden", `: ${why}`));
  wrapper.append(word);
  const gone = state.stale.filter(({ why }) => why === "gone").map(({ name }) => name);
  if (gone.length === 0) return;
  const names = gone.join(", ");
  const text = `Reads ${names}: the cell that declared ${gone.length > 1 ? "them" : "it"} is deleted or declares something else now. After a restart this cell fails.`;
  wrapper.after(element("p", "arpo-Stale-warning", text));
}

const isCellEnd = (message: KernelMessage.IMessage): boolean =>
  message.header.msg_type === "status" &&
  (message.content as { execution_state: string }).execution_state === "idle" &&
  (message.parent_header as { msg_type?: string }).msg_type === "execute_request";

/** The marks of one notebook, and the commands that run what is stale. */
class StaleCells {
  readonly #panel: NotebookPanel;
  readonly #changed: () => void;
  #line: StaleLine | undefined;
  #kernel: Kernel.IKernelConnection | undefined;
  #states: Record<string, CellState> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A command runs cells: what these end with starts no other. */
  #isRunning = false;
  /** Whether what depends on a cell runs after it. */
  runsByItself = false;

  constructor(panel: NotebookPanel, changed: () => void) {
    this.#panel = panel;
    this.#changed = changed;
    const { sessionContext, content } = panel;
    sessionContext.iopubMessage.connect((_, message) => {
      if (isCellEnd(message)) this.#soon(0);
    });
    sessionContext.kernelChanged.connect(() => this.#forget());
    sessionContext.statusChanged.connect((_, status) => {
      if (status === "restarting" || status === "autorestarting") this.#forget();
    });
    content.modelContentChanged.connect(() => {
      if (this.#line !== undefined) this.#soon(pause);
    });
    void sessionContext.ready.then(() => this.#soon(pause));
    NotebookActions.executed.connect(this.#executed, this);
    panel.disposed.connect(() => {
      clearTimeout(this.#timer);
      NotebookActions.executed.disconnect(this.#executed, this);
    });
  }

  get count(): number {
    return Object.keys(this.#states).length;
  }

  #soon(wait: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), wait);
  }

  #forget(): void {
    this.#line = undefined;
    this.#show({});
  }

  async #ask(of?: string): Promise<StaleAnswer | undefined> {
    const kernel = this.#panel.sessionContext.session?.kernel;
    if (kernel == null || this.#panel.isDisposed) return undefined;
    if (this.#line === undefined || this.#kernel !== kernel)
      this.#line = new KernelLine(kernel, "arpo-lab.stale");
    this.#kernel = kernel;
    const answer = await this.#line.ask({
      cells: codeCells(this.#panel),
      ...(of !== undefined && { of }),
    });
    if (answer !== undefined && !this.#panel.isDisposed) this.#show(answer.cells);
    return answer;
  }

  #show(states: Record<string, CellState>): void {
    this.#states = states;
    for (const cell of this.#panel.content.widgets) mark(cell, states[cell.model.id]);
    this.#changed();
  }

  /** Asks the kernel and marks the cells. */
  async look(): Promise<void> {
    await this.#ask();
  }

  /** Runs all cells that are edited or stale, each once. */
  async runStale(): Promise<void> {
    await this.#runAll(await this.#ask(), true);
  }

  /** Runs what depends on the active cell. */
  async runDependents(): Promise<void> {
    const of = this.#panel.content.activeCell?.model.id;
    if (of === undefined) return;
    const answer = await this.#ask(of);
    if (answer?.plan.length === 0)
      Notification.info("No cell that ran reads what this cell declares.");
    await this.#runAll(answer, false);
  }

  async #runAll(answer: StaleAnswer | undefined, isAll: boolean): Promise<void> {
    if (answer === undefined || this.#isRunning) return;
    const done = new Set<string>();
    const loops = new Map<string, string[]>();
    this.#isRunning = true;
    try {
      let plan = answer;
      for (;;) {
        for (const loop of plan.loops) loops.set(loop.join(" "), loop);
        const next = plan.plan.find((id) => !done.has(id));
        if (next === undefined) break;
        done.add(next);
        if (!(await this.#run(next))) break;
        // What an edited cell declares is known when it has run.
        const found = isAll ? await this.#ask() : plan;
        if (found === undefined) break;
        plan = found;
      }
    } finally {
      this.#isRunning = false;
      this.#soon(0);
    }
    for (const loop of loops.values()) {
      Notification.warning(
        `${this.#words(loop)} change what the others read: they form a loop, and each ran once.`,
        { autoClose: 15_000 },
      );
    }
  }

  /** Cells as their prompts call them. */
  #words(ids: readonly string[]): string {
    const { widgets } = this.#panel.content;
    const places = ids.map((id) => widgets.findIndex(({ model }) => model.id === id) + 1);
    return `Cells ${places.sort((a, b) => a - b).join(", ")} of the notebook`;
  }

  async #run(id: string): Promise<boolean> {
    const { content, sessionContext } = this.#panel;
    const cell = content.widgets.find(({ model }) => model.id === id);
    if (cell === undefined) return true;
    return await NotebookActions.runCells(content, [cell], sessionContext);
  }

  /** A person has run a cell: with the mode on, what depends on it runs as well. */
  #executed(
    _: unknown,
    { notebook, cell, success }: { notebook: unknown; cell: Cell; success: boolean },
  ): void {
    if (notebook !== this.#panel.content || !this.runsByItself || this.#isRunning) return;
    if (success && cell.model.type === "code") void this.#follow(cell.model.id);
  }

  async #follow(of: string): Promise<void> {
    const answer = await this.#ask(of);
    if (answer === undefined || this.#isRunning) return;
    const plan = answer.plan.filter((id) => id !== of && answer.cells[id] !== undefined);
    if (plan.length === 0) return;
    const loop = answer.loops[0];
    if (loop !== undefined) {
      Notification.warning(
        `${this.#words(loop)} change what the others read. A loop does not run by itself: nothing was run.`,
        { autoClose: 15_000 },
      );
      return;
    }
    const long = plan.filter((id) => answer.long.includes(id));
    if (long.length > 0) {
      const { button } = await showDialog({
        title: "Run cells that take long?",
        body: `${this.#words(long)} may take long. Run ${plan.length} ${plan.length > 1 ? "cells that depend" : "cell that depends"} on the one you ran?`,
        buttons: [
          Dialog.cancelButton({ label: "Leave Them Stale" }),
          Dialog.okButton({ label: "Run" }),
        ],
        defaultButton: 0,
      });
      if (!button.accept) return;
    }
    await this.#runAll({ ...answer, plan }, false);
  }
}

/** Marks what is stale, and runs it when a person says so. */
export const stale: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:stale",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, palette: ICommandPalette | null) => {
    const all = new Map<NotebookPanel, StaleCells>();
    const here = (): StaleCells | undefined =>
      tracker.currentWidget === null ? undefined : all.get(tracker.currentWidget);
    const changed = (): void => {
      for (const id of Object.values(commands)) app.commands.notifyCommandChanged(id);
    };
    const isEnabled = (): boolean => here() !== undefined;
    app.commands.addCommand(commands.stale, {
      label: "Run Stale Cells",
      icon: staleIcon,
      caption: () => {
        const count = here()?.count ?? 0;
        return count === 0
          ? "No cell is edited or stale"
          : `Run the ${count} edited or stale ${count > 1 ? "cells" : "cell"} (Alt R)`;
      },
      isEnabled: () => (here()?.count ?? 0) > 0,
      execute: async () => await here()?.runStale(),
    });
    app.commands.addCommand(commands.dependents, {
      label: "Run What Depends on This",
      icon: dependentsIcon,
      caption: "Run the cells that read what this one declares (Alt Shift R)",
      isEnabled,
      execute: async () => await here()?.runDependents(),
    });
    app.commands.addCommand(commands.byItself, {
      label: "Run Dependents by Themselves",
      caption: "After each cell that you run, run what depends on it; until the page is closed",
      isEnabled,
      isToggleable: true,
      isToggled: () => here()?.runsByItself === true,
      execute: () => {
        const cells = here();
        if (cells === undefined) return;
        cells.runsByItself = !cells.runsByItself;
        changed();
        Notification.info(
          cells.runsByItself
            ? "After each cell that you run, what depends on it runs as well."
            : "Only what you run is run.",
        );
      },
    });
    const selector = ".jp-Notebook";
    app.commands.addKeyBinding({ command: commands.stale, keys: ["Alt R"], selector });
    app.commands.addKeyBinding({ command: commands.dependents, keys: ["Alt Shift R"], selector });
    for (const command of Object.values(commands)) {
      palette?.addItem({ command, category: "Notebook Cell Operations" });
    }
    tracker.currentChanged.connect(changed);
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel: NotebookPanel) => {
        const cells = new StaleCells(panel, changed);
        all.set(panel, cells);
        panel.disposed.connect(() => all.delete(panel));
        const button = (id: string): CommandToolbarButton =>
          new CommandToolbarButton({ commands: app.commands, id, label: "" });
        const first = button(commands.stale);
        panel.toolbar.insertAfter("run", "stale", first);
        panel.toolbar.insertAfter("stale", "dependents", button(commands.dependents));
        return first;
      },
    });
  },
};
