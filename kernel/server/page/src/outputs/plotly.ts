import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Widget } from "@lumino/widgets";

interface Figure {
  data?: unknown[];
  layout?: Record<string, unknown>;
  config?: Record<string, unknown>;
}

const mime = "application/vnd.plotly.v1+json";

/** Draws a figure when it comes into view; the library comes with the first one. */
class PlotlyOutput extends Widget implements IRenderMime.IRenderer {
  #figure: Figure = {};
  #watch: IntersectionObserver | undefined;
  #isSeen = false;

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#figure = model.data[mime] as Figure;
    const { layout = {} } = this.#figure;
    this.node.style.height = `${typeof layout["height"] === "number" ? layout["height"] : 420}px`;
    if (this.#isSeen) {
      await this.#draw();
      return;
    }
    if (this.#watch !== undefined) return;
    this.#watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        this.#isSeen = true;
        this.#watch?.disconnect();
        void this.#draw().catch((error: unknown) => {
          this.node.textContent = `This figure cannot be drawn: ${String(error)}`;
        });
      },
      { rootMargin: "50%" },
    );
    this.#watch.observe(this.node);
  }

  override dispose(): void {
    this.#watch?.disconnect();
    super.dispose();
  }

  async #draw(): Promise<void> {
    const { default: Plotly } = await import("plotly.js-cartesian-dist-min");
    if (this.isDisposed) return;
    const { data = [], layout = {}, config = {} } = this.#figure;
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
