import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { InputDialog, showDialog, Dialog } from "@jupyterlab/apputils";
import { INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { ToolbarButton } from "@jupyterlab/ui-components";

const command = "arpo-lab:insert-stage";

/** Inserts a cell that begins with `%%` and one of the stages or magics that the kernel offers now. */
export const stages: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:stages",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker) => {
    app.commands.addCommand(command, {
      label: "Insert a Stage Cell …",
      caption: "Insert a cell that begins with %% and a stage",
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
        const { value } = await InputDialog.getItem({ title: "Which stage?", items });
        if (value === null) return;
        NotebookActions.insertBelow(panel.content);
        const head = value.startsWith("%%") ? value : `%%${value}`;
        panel.content.activeCell?.model.sharedModel.setSource(`${head.trimEnd()}\n`);
        panel.content.mode = "edit";
      },
    });
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel: NotebookPanel) => {
        const button = new ToolbarButton({
          label: "%%",
          tooltip: "Insert a cell that begins with %% and a stage",
          onClick: () => void app.commands.execute(command),
        });
        panel.toolbar.insertAfter("cellType", "stage", button);
        return button;
      },
    });
  },
};
