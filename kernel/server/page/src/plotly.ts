import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Widget } from "@lumino/widgets";

interface Figure {
  data?: unknown[];
  layout?: Record<string, unknown>;
  config?: Record<string, unknown>;
}

const mime = "application/vnd.plotly.v1+json";

/** Draws a figure; the library comes with the first one. */
class PlotlyOutput extends Widget implements IRenderMime.IRenderer {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const { data = [], layout = {}, config = {} } = model.data[mime] as Figure;
    this.node.style.height = `${typeof layout["height"] === "number" ? layout["height"] : 420}px`;
    const { default: Plotly } = await import("plotly.js-cartesian-dist-min");
    await Plotly.react(this.node, structuredClone(data), structuredClone(layout), {
      responsive: true,
      displaylogo: false,
      ...config,
      plotlyServerURL: "",
    });
  }
}

/** Shows plotly figures, as JupyterLab does where plotly's extension is installed. */
export const plotly: IRenderMime.IExtension = {
  id: "arpo-lab:plotly",
  rendererFactory: {
    safe: true,
    mimeTypes: [mime],
    createRenderer: () => new PlotlyOutput(),
  },
  rank: 0,
  dataType: "json",
};
