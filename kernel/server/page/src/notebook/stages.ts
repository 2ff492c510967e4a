import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, showDialog } from "@jupyterlab/apputils";
import { INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { LabIcon, ToolbarButton } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";

const command = "arpo-lab:insert-stage";
const tooltip = "Insert a cell that begins with %% and a stage";

const icon = new LabIcon({
  name: "arpo-lab:stage",
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">' +
    '<text class="jp-icon3" x="12" y="17" text-anchor="middle" font-size="14" fill="#616161">&#37;&#37;</text></svg>',
});

/** A choice with a name that is read out. */
class Choice extends Widget implements Dialog.IBodyWidget<string> {
  readonly #select = document.createElement("select");

  constructor(question: string, items: string[]) {
    super();
    this.#select.className = "jp-mod-styled";
    this.#select.append(...items.map((item) => new Option(item, item)));
    const label = document.createElement("label");
    label.append(question, this.#select);
    this.node.append(label);
  }

  getValue(): string {
    return this.#select.value;
  }
}

/** Inserts a cell that begins with `%%` and one of the stages or magics that the kernel offers now. */
export const stages: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:stages",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker) => {
    let asking = false;
    app.commands.addCommand(command, {
      label: "Insert a Stage Cell …",
      caption: tooltip,
      isEnabled: () => tracker.currentWidget !== null,
      execute: async () => {
        const panel = tracker.currentWidget;
        const kernel = panel?.sessionContext.session?.kernel;
        if (panel === null || kernel === null || kernel === undefined) return;
        const { content } = await kernel.requestComplete({ code: "%%", cursor_pos: 2 });
        const items = content.status === "ok" ? content.matches : [];
        if (items.length === 0) {
          await showDialog({
            title: "No stages",
            body: "This notebook's kernel offers no cells that begin with %%.",
            buttons: [Dialog.okButton()],
          });
          return;
        }
        // A toolbar's button takes Enter for two clicks.
        if (asking) return;
        asking = true;
        const { button, value } = await showDialog({
          title: "Insert a stage cell",
          body: new Choice("Which stage?", items),
          buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Insert" })],
          focusNodeSelector: "select",
        }).finally(() => (asking = false));
        if (!button.accept || value === null) return;
        NotebookActions.insertBelow(panel.content);
        const head = value.startsWith("%%") ? value : `%%${value}`;
        panel.content.activeCell?.model.sharedModel.setSource(`${head.trimEnd()}\n`);
        await panel.content.activeCell?.ready;
        panel.content.mode = "edit";
        const editor = panel.content.activeCell?.editor;
        editor?.setCursorPosition({ line: editor.lineCount - 1, column: 0 });
      },
    });
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel: NotebookPanel) => {
        const onClick = (): void => void app.commands.execute(command);
        const button = new ToolbarButton({ icon, tooltip, onClick });
        panel.toolbar.insertAfter("cellType", "stage", button);
        return button;
      },
    });
  },
};
