import { randomUUID } from "#platform/uuid";
import { escapeHtml } from "../../../common/picture/escape.js";
import { palettes, type Theme } from "./palette.js";
import { widgetStyle } from "./style.js";

/** What a view is made of. */
interface WidgetParts {
  /** What the view is called; its element carries `arpo-view` and `arpo-NAME`. */
  name: string;
  /** Shown until the program runs, and where none does. */
  still: string;
  /** Plain data for the program, by name: `script[data-NAME]` holds it. */
  data: Readonly<Record<string, unknown>>;
  /** Style sheet of this view alone. */
  style?: string;
  /** The text of a script that leaves `page.start`, called with the element's id and the colours. */
  program: string;
  /** Views of one id share what the reader chose, also when one replaces the other. */
  id?: string;
  /** Colours of one theme on every page; otherwise the page decides. */
  theme?: Theme;
}

/** A view as one piece of HTML that needs nothing else. */
export function widgetHtml(widget: WidgetParts): string {
  const { name, still, data, style = "", program } = widget;
  const id = `${name}-${widget.id ?? randomUUID()}`;
  const own = widget.theme === undefined || widget.theme === "auto" ? undefined : widget.theme;
  const { auto, dark } = palettes;
  const colours = JSON.stringify(
    own ? { light: palettes[own], dark: palettes[own] } : { light: auto, dark },
  );
  const scripts = Object.entries(data).map(
    ([key, value]) =>
      `<script type="application/json" data-${key}>${JSON.stringify(value).replace(/</g, "\\u003c")}</script>`,
  );
  const script =
    `(()=>{${program}\nconst start=()=>page.start(${JSON.stringify(id)},${colours});\n` +
    `if(document.readyState==="loading")addEventListener("DOMContentLoaded",start,{once:true});else start();})()`;
  // Mathematics in a tree's text is what the model wrote, not the page's: no typesetting.
  return (
    `<div id="${id}" class="arpo-view arpo-${name} tex2jax_ignore mathjax_ignore">` +
    `<style>${widgetStyle}${style}</style><div data-picture>${still}</div>${scripts.join("")}` +
    `<script>${script}</script></div>`
  );
}

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
      still: `<div class="arpo-title"><b>${escapeHtml(title!)}</b></div><div class="arpo-wide" tabindex="0" role="group" aria-label="picture">${this.picture()}</div>`,
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
