import { IStandingValues } from "../values/standing.js";
import { hideFromJupyterLab } from "./hidden.js";
import { LineSession } from "./session.js";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, Notification } from "@jupyterlab/apputils";
import type { Cell } from "@jupyterlab/cells";
import {
  type CodeMirrorEditor,
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
} from "@jupyterlab/codemirror";
import { INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { CommandToolbarButton, LabIcon, ToolbarButton } from "@jupyterlab/ui-components";

/** Where the line begins. */
const setLine = StateEffect.define<number | undefined>();
const attributes = { "aria-current": "step" };
const decoration = Decoration.line({ class: "arpo-ByLine-line", attributes });

/** The line that runs next, in an editor. */
const lineMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects }) => {
    const set = effects.findLast((effect) => effect.is(setLine));
    if (set === undefined) return marks.map(changes);
    return set.value === undefined
      ? Decoration.none
      : Decoration.set([decoration.range(set.value as number)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Marks a line of a cell, counted from 1; undefined takes the mark away. */
function markLine(cell: Cell, line: number | undefined): void {
  const view = (cell.editor as CodeMirrorEditor | null)?.editor;
  if (view === undefined) return;
  const { doc } = view.state;
  // Who edits a cell while it runs may have taken the line away.
  const from = line === undefined || line > doc.lines ? undefined : doc.line(line).from;
  const scrolling = from === undefined ? [] : [EditorView.scrollIntoView(from)];
  view.dispatch({ effects: [setLine.of(from), ...scrolling] });
}

const run = "arpo-lab:run-by-line";
const goOn = "arpo-lab:run-by-line-continue";

function drawn(name: string, path: string): LabIcon {
  const svgstr =
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">' +
    `<path class="jp-icon3" fill="#616161" d="${path}"/></svg>`;
  return new LabIcon({ name: `arpo-lab:${name}`, svgstr });
}
const lineIcon = drawn("by-line", "M4 5l6 4-6 4zM12 6h8v2h-8zM12 11h8v2h-8zM4 16h16v2H4z");
const endIcon = drawn("by-line-end", "M4 6h16v2H4zM4 11h8v2H4zM4 16h8v2H4zM14 11l6 4-6 4z");

/** Runs a cell line by line: the line that is next is marked, the values panel shows what it finds there. */
export const byLine: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:by-line",
  autoStart: true,
  requires: [INotebookTracker, IEditorExtensionRegistry, IStandingValues],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    editors: IEditorExtensionRegistry,
    values: IStandingValues,
    palette: ICommandPalette | null,
  ) => {
    hideFromJupyterLab();
    editors.addExtension({
      name: "arpo-lab:by-line",
      factory: () => EditorExtensionRegistry.createImmutableExtension(lineMark),
    });
    const running = new Map<NotebookPanel, LineSession>();
    const here = (): LineSession | undefined =>
      tracker.currentWidget === null ? undefined : running.get(tracker.currentWidget);

    const begin = async (panel: NotebookPanel): Promise<void> => {
      const cell = panel.content.activeCell;
      const kernel = panel.sessionContext.session?.kernel;
      if (cell?.model.type !== "code" || kernel == null) return;
      const code = cell.model.sharedModel.getSource();
      if (code.trim() === "") return;
      let isInFront = false;
      const session = new LineSession(kernel, (standing) => {
        if (!cell.isDisposed) markLine(cell, standing?.line);
        values.stand(panel, standing?.values);
        if (standing === undefined || isInFront) return;
        values.front();
        isInFront = true;
      });
      running.set(panel, session);
      app.commands.notifyCommandChanged(goOn);
      try {
        await session.begin(code);
        await NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
      } finally {
        running.delete(panel);
        app.commands.notifyCommandChanged(goOn);
        await session.end();
      }
    };
    const failed = (error: unknown): void => void Notification.error(String(error));

    app.commands.addCommand(run, {
      label: "Run by Line",
      caption: "Run the cell line by line; again for the next line",
      isEnabled: () => tracker.currentWidget !== null,
      execute: () => {
        const panel = tracker.currentWidget;
        if (panel === null) return;
        const now = running.get(panel);
        if (now === undefined) void begin(panel).catch(failed);
        else void now.next().catch(() => undefined); // it runs: the line is not there yet
      },
    });
    app.commands.addCommand(goOn, {
      label: "Run by Line: Continue to the End",
      icon: endIcon,
      caption: "Run the rest of the cell (Shift F8)",
      isVisible: () => here() !== undefined,
      execute: () =>
        void here()
          ?.continue()
          .catch(() => undefined),
    });
    const selector = ".jp-Notebook";
    app.commands.addKeyBinding({ command: run, keys: ["F8"], selector });
    app.commands.addKeyBinding({ command: goOn, keys: ["Shift F8"], selector });
    for (const command of [run, goOn]) {
      palette?.addItem({ command, category: "Notebook Cell Operations" });
    }
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel: NotebookPanel) => {
        const onClick = (): void => void app.commands.execute(run);
        const tooltip = "Run by line (F8); again for the next line";
        const { commands } = app;
        const button = new ToolbarButton({ icon: lineIcon, tooltip, onClick });
        panel.toolbar.insertAfter("run", "by-line", button);
        const end = new CommandToolbarButton({ commands, id: goOn, label: "" });
        panel.toolbar.insertAfter("by-line", "by-line-end", end);
        panel.disposed.connect(() => {
          void running
            .get(panel)
            ?.end()
            .catch(() => undefined);
        });
        return button;
      },
    });
  },
};
