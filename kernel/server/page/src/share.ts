import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Clipboard, ICommandPalette, Notification, showErrorMessage } from "@jupyterlab/apputils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { INotebookTracker } from "@jupyterlab/notebook";

/** What a page has that is a site in a browser tab. */
interface Site {
  shareLink(path: string, notebook: object): Promise<string>;
}

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
    const { arpoLabSite: site } = window as unknown as { arpoLabSite?: Site };
    if (site === undefined) return;
    const command = "arpo-lab:share-link";
    app.commands.addCommand(command, {
      label: "Copy Link to This Notebook's Cells",
      isEnabled: () => notebooks.currentWidget !== null,
      execute: async () => {
        const { context } = notebooks.currentWidget!;
        try {
          const link = await site.shareLink(context.path, context.model.toJSON() as object);
          Clipboard.copyToSystem(link);
          Notification.success("The link is copied. It holds the cells, without what they gave.");
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
