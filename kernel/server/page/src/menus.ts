import { site } from "./site.js";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import {
  Clipboard,
  Dialog,
  ICommandPalette,
  Notification,
  showDialog,
  showErrorMessage,
} from "@jupyterlab/apputils";
import { PageConfig, URLExt } from "@jupyterlab/coreutils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { INotebookTracker } from "@jupyterlab/notebook";

const pages = [
  {
    command: "arpo-lab:documentation",
    label: "arpo-lab Documentation",
    address: "docs/index.html",
  },
  {
    command: "arpo-lab:reference",
    label: "arpo-lab Reference",
    address: "docs/reference/index.html",
  },
];

/** The package's own documentation, first in the help menu; its pages lie beside this one. */
export const help: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:help",
  autoStart: true,
  optional: [IMainMenu, ICommandPalette],
  activate: (app: JupyterFrontEnd, menu: IMainMenu | null, palette: ICommandPalette | null) => {
    for (const { command, label, address } of pages) {
      app.commands.addCommand(command, {
        label,
        execute: () =>
          void window.open(URLExt.join(PageConfig.getBaseUrl(), address), "_blank", "noopener"),
      });
      palette?.addItem({ command, category: "Help" });
    }
    menu?.helpMenu.addGroup(
      pages.map(({ command }) => ({ command })),
      -1,
    );
  },
};

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

const more =
  "Training and decoding take about two thirds of the time. Trees, log-probabilities and weights are then " +
  "this browser's own: no longer to the last bit what Node and other browsers give.";
const same = "Trees, log-probabilities and weights are then what Node gives, to the last bit.";
const again = " Everything is saved, the page loads again, and kernels start anew.";

/** A reader's choice between the same bits everywhere and more speed, where the page is a site. */
export const arithmetic: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:arithmetic",
  autoStart: true,
  optional: [IMainMenu, ICommandPalette],
  activate: (app: JupyterFrontEnd, menu: IMainMenu | null, palette: ICommandPalette | null) => {
    if (site === undefined) return;
    const { possible, relaxed, choose } = site.arithmetic;
    const command = "arpo-lab:relaxed-arithmetic";
    const label = "Faster Arithmetic with Other Last Bits";
    app.commands.addCommand(command, {
      label,
      isToggleable: true,
      isToggled: () => relaxed,
      isEnabled: () => possible,
      execute: async () => {
        const { button } = await showDialog({
          title: relaxed ? "The same bits as everywhere" : label,
          body: (relaxed ? same : more) + again,
          buttons: [Dialog.cancelButton(), Dialog.okButton()],
        });
        if (!button.accept) return;
        await app.commands.execute("docmanager:save-all");
        choose(!relaxed);
        location.reload();
      },
    });
    palette?.addItem({ command, category: "Kernel Operations" });
    menu?.settingsMenu.addGroup([{ command }], 40);
  },
};
