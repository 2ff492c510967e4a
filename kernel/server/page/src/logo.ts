import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { LabIcon } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";
import favicon from "./favicon.svg";

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
