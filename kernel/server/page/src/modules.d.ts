// Modules that have no types of their own.
declare module "lab:extensions" {
  import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
  import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";

  export const extensions: JupyterFrontEndPlugin<unknown>[];
  export const mimeExtensions: (IRenderMime.IExtension | IRenderMime.IExtension[])[];
}

declare module "*.css" {}

declare module "*.svg" {
  const text: string;
  export default text;
}

declare module "anywidget" {
  import type * as base from "@jupyter-widgets/base";

  export default function make(of: typeof base): {
    AnyModel: typeof base.WidgetModel;
    AnyView: typeof base.WidgetView;
  };
}

declare module "plotly.js-cartesian-dist-min" {
  const plotly: {
    react(node: HTMLElement, data: unknown[], layout: object, config: object): Promise<unknown>;
  };
  export default plotly;
}
