import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { PageConfig, URLExt } from "@jupyterlab/coreutils";
import { IMainMenu } from "@jupyterlab/mainmenu";

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
