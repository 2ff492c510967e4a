import favicon from "./favicon.svg";
import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { LabIcon } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";

/** The lab's sign at the top left. */
export const logo: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:logo",
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    const widget = new Widget();
    widget.id = "jp-MainLogo";
    const icon = new LabIcon({ name: "arpo-lab:logo", svgstr: favicon });
    icon.element({
      container: widget.node,
      elementPosition: "center",
      margin: "2px 8px",
      height: "auto",
      width: "16px",
    });
    app.shell.add(widget, "top", { rank: 0 });
  },
};

/** Below 700 pixels the notebook has the page to itself: both side panels stay closed until the user does something. */
export const narrow: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:narrow",
  autoStart: true,
  requires: [ILabShell],
  activate: (_app: JupyterFrontEnd, shell: ILabShell) => {
    if (!matchMedia("(max-width: 700px)").matches) return;
    const close = (): void => {
      if (!shell.leftCollapsed) shell.collapseLeft();
      if (!shell.rightCollapsed) shell.collapseRight();
    };
    const leave = (): void => void shell.layoutModified.disconnect(close);
    // What starts later opens the files, at times that are its own.
    shell.layoutModified.connect(close);
    for (const event of ["pointerdown", "keydown"])
      addEventListener(event, leave, { once: true, capture: true });
    void shell.restored.then(close);
  },
};
