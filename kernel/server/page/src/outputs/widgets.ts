import { type ExportMap, IJupyterWidgetRegistry } from "@jupyter-widgets/base";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";

/** Lets the widget manager show what `widget` of `arpo-lab/kernel` makes, and anywidgets of Python. */
export const widgets: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:widgets",
  autoStart: true,
  requires: [IJupyterWidgetRegistry],
  activate: (_app: JupyterFrontEnd, registry: IJupyterWidgetRegistry) => {
    // Made once: its views look for what its own models have set up.
    let made: Promise<ExportMap> | undefined;
    const make = async (): Promise<ExportMap> => {
      const [anywidget, base] = await Promise.all([
        import("anywidget"),
        import("@jupyter-widgets/base"),
      ]);
      return anywidget.default(base);
    };
    const exports = (): Promise<ExportMap> => (made ??= make());
    // Kernels ask for the line of versions that they were written for; the models of all are the same.
    for (const version of ["0.9.21", "0.10.0", "0.11.0"]) {
      registry.registerWidget({ name: "anywidget", version, exports });
    }
  },
};
