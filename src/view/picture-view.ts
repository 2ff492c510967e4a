import { escapeHtml } from "../../picture/escape.js";
import { widgetHtml, type WidgetParts } from "./widget.js";

/** A view that stands as one picture with its title until its program runs, and where none does. */
export abstract class PictureView<Payload extends { readonly summary: readonly string[] }> {
  constructor(readonly payload: Payload) {}

  /** What the page is made of beside the picture; its data carry the view's name. */
  protected abstract readonly page: Pick<WidgetParts, "name" | "style" | "program">;

  /** All of it as one picture. */
  abstract picture(): string;

  /** What it shows, in words: a line for every rule. */
  get summary(): string {
    return this.payload.summary.join("\n");
  }

  /** One piece of HTML that needs nothing else. */
  html(): string {
    const [title] = this.payload.summary;
    return widgetHtml({
      ...this.page,
      still: `<div class="arpo-title"><b>${escapeHtml(title!)}</b></div>${this.picture()}`,
      data: { [this.page.name]: this.payload },
    });
  }

  /** Every form it can be shown in. */
  bundle(): Record<string, string> {
    return {
      "text/html": this.html(),
      "image/svg+xml": this.picture(),
      "text/plain": this.summary,
    };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return this.bundle();
  }
}
