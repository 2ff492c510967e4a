import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, showDialog } from "@jupyterlab/apputils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { site } from "./site.js";

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
