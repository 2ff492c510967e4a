import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import {
  Dialog,
  ICommandPalette,
  Notification,
  showDialog,
  showErrorMessage,
} from "@jupyterlab/apputils";
import { PageConfig, URLExt } from "@jupyterlab/coreutils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { site } from "./site.js";

const address = (): string => URLExt.join(PageConfig.getBaseUrl(), "lab/api/folder");

/** A reader chooses a file; undefined where none. */
const chosen = (): Promise<File | undefined> =>
  new Promise((done) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".zip,application/zip";
    input.onchange = () => done(input.files?.[0]);
    input.oncancel = () => done(undefined);
    input.click();
  });

async function putBack(zip: File, replace = false): Promise<void> {
  const answer = await fetch(`${address()}${replace ? "?replace" : ""}`, {
    method: "PUT",
    body: zip,
  });
  const said = (await answer.json()) as string[] | { message: string };
  if (Array.isArray(said)) {
    const count = `${said.length} ${said.length === 1 ? "file" : "files"}`;
    Notification.success(`Put back: ${count}.`, { autoClose: 5000 }); // else only the bell counts it
    return;
  }
  if (answer.status !== 409) throw new Error(said.message);
  const { button } = await showDialog({
    title: "Replace files?",
    body: said.message,
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: "Replace" })],
  });
  if (button.accept) await putBack(zip, true);
}

/** All that a reader made as one zip, and back, where the page is a site that anybody can open. */
export const folder: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:folder",
  autoStart: true,
  optional: [IMainMenu, ICommandPalette],
  activate: (app: JupyterFrontEnd, menu: IMainMenu | null, palette: ICommandPalette | null) => {
    if (site === undefined) return;
    const download = "arpo-lab:download-folder";
    const upload = "arpo-lab:upload-folder";
    app.commands.addCommand(download, {
      label: "Download All My Files",
      caption: "A zip of what you changed or made",
      execute: () => {
        const link = document.createElement("a");
        link.href = address();
        link.download = "arpo-lab.zip";
        document.body.append(link);
        link.click();
        link.remove();
      },
    });
    app.commands.addCommand(upload, {
      label: "Put Files Back from a Zip…",
      execute: async () => {
        try {
          const zip = await chosen();
          if (zip !== undefined) await putBack(zip);
        } catch (error) {
          await showErrorMessage("Nothing was put back", error as Error);
        }
      },
    });
    for (const command of [download, upload]) {
      palette?.addItem({ command, category: "File Operations" });
    }
    menu?.fileMenu.addGroup([{ command: download }, { command: upload }], 40);
  },
};
