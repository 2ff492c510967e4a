import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Clipboard, ICommandPalette, Notification, showErrorMessage } from "@jupyterlab/apputils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { INotebookTracker } from "@jupyterlab/notebook";
import { site } from "./site.js";

/** A notebook as a link, where the page is a site that anybody can open. */
export const share: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:share",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IMainMenu, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    menu: IMainMenu | null,
    palette: ICommandPalette | null,
  ) => {
    if (site === undefined) return;
    const { shareLink } = site;
    const command = "arpo-lab:share-link";
    app.commands.addCommand(command, {
      label: "Copy Link to This Notebook's Cells",
      isEnabled: () => notebooks.currentWidget !== null,
      execute: async () => {
        const { context } = notebooks.currentWidget!;
        try {
          const link = await shareLink(context.path, context.model.toJSON() as object);
          Clipboard.copyToSystem(link);
          const said = "The link is copied. It holds the cells, without what they gave.";
          Notification.success(said, { autoClose: 5000 }); // else only the bell counts it
          return link;
        } catch (error) {
          await showErrorMessage("No link", error as Error);
          return undefined;
        }
      },
    });
    palette?.addItem({ command, category: "File Operations" });
    menu?.fileMenu.addGroup([{ command }], 40);
  },
};
