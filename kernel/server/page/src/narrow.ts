import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";

/** Below 700 pixels the notebook has the page to itself: both side panels start closed. */
export const narrow: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:narrow",
  autoStart: true,
  requires: [ILabShell],
  activate: (_app: JupyterFrontEnd, shell: ILabShell) => {
    if (!matchMedia("(max-width: 700px)").matches) return;
    void shell.restored.then(() => {
      shell.collapseLeft();
      shell.collapseRight();
    });
  },
};
