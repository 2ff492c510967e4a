import { randomUUID } from "#platform/uuid";
import { defined } from "../../../common/options/defined.js";
import { palettes, type Theme } from "../../../common/picture/palette.js";
import { logged } from "../../base/show/show-as.js";
import { header } from "./header.js";
import { wide } from "./table.js";
import { widgetStyle } from "./style.js";

/** What the pages of a kind of view have in common. */
export interface ViewPage {
  /** What the view is called; its element carries `arpo-view` and `arpo-NAME`. */
  name: string;
  /** Style sheet of this view alone. */
  style?: string;
  /** The text of a script that leaves `page.start`, called with the element's id and the colours. */
  program?: string;
}

/** Plain data as a script element that a page reads: nothing in it can end the element. */
export const carrierHtml = (name: string, value: unknown): string =>
  `<script type="application/json" data-${name}>${JSON.stringify(value).replace(/</g, "\\u003c")}</script>`;

/**
 * What shows itself: as a page with a program, as one picture, and in words. A view states its payload, its page and its
 * picture; where it says nothing else, the picture stands under the first line of the words until the program runs.
 */
export abstract class View<Payload = unknown> {
  /** Views of one id share what the reader chose, also when one replaces the other. */
  protected readonly key?: string;
  /** Colours of one theme on every page; otherwise the page decides. */
  protected readonly theme?: Theme | undefined;
  #drawn: string | undefined;

  constructor(readonly payload: Payload) {}

  protected abstract readonly page: ViewPage;

  /** What it shows, in words. */
  abstract get summary(): string;

  toString(): string {
    return this.summary;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }

  /** All of it as one picture; undefined where there is none. */
  abstract picture(): string | undefined;

  /** The picture, drawn once. */
  protected get drawn(): string {
    return (this.#drawn ??= this.picture() ?? "");
  }

  /** Shown until the program runs, and where none does. */
  protected still(): string {
    return header(this.summary.split("\n")[0]!) + wide("picture", this.drawn);
  }

  /** Plain data for the program, by name: `script[data-NAME]` holds it. */
  protected data(): Record<string, unknown> {
    return { [this.page.name]: this.payload };
  }

  /** One piece of HTML that needs nothing else. */
  html(): string {
    const { name, style = "", program } = this.page;
    const id = `${name}-${this.key ?? randomUUID()}`;
    const own = this.theme === "auto" ? undefined : this.theme;
    const { auto, dark } = palettes;
    const colours = JSON.stringify(
      own ? { light: palettes[own], dark: palettes[own] } : { light: auto, dark },
    );
    const carried = Object.entries(this.data()).map(([key, value]) => carrierHtml(key, value));
    const script =
      program === undefined
        ? ""
        : `<script>(()=>{${program}\nconst start=()=>page.start(${JSON.stringify(id)},${colours});\n` +
          `if(document.readyState==="loading")addEventListener("DOMContentLoaded",start,{once:true});else start();})()</script>`;
    // Mathematics in a tree's text is what the model wrote, not the page's: no typesetting.
    return (
      `<div id="${id}" class="arpo-view arpo-${name} tex2jax_ignore mathjax_ignore">` +
      `<style>${widgetStyle}${style}</style><div data-picture>${this.still()}</div>${carried.join("")}${script}</div>`
    );
  }

  /** Every form it can be shown in. */
  bundle(): Record<string, string> {
    const picture = this.drawn;
    return {
      "text/html": this.html(),
      ...defined({ "image/svg+xml": picture === "" ? undefined : picture }),
      "text/plain": this.summary,
    };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return this.bundle();
  }
}
