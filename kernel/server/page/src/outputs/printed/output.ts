import { renderError, renderText } from "@jupyterlab/rendermime";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { Widget } from "@lumino/widgets";

/** A part of a text that is drawn at once. */
interface Block {
  /** Where it ends. */
  end: number;
  lines: number;
  /** Whether what is added to the text goes into other blocks. */
  isFull: boolean;
}

const maxLines = 100;
const maxChars = 16_384;
/** A line longer than this is broken. */
const maxLine = 4 * maxChars;

/** The block of `text` that begins at `start`. */
function nextBlock(text: string, start: number): Block {
  let end = start;
  for (let lines = 0; end < text.length;) {
    const at = text.indexOf("\n", end);
    if (at < 0 || at - start >= maxLine) break;
    end = at + 1;
    if (++lines >= maxLines || end - start >= maxChars) return { end, lines, isFull: true };
  }
  if (text.length - start < maxLine) return { end: text.length, lines: 0, isFull: false };
  if (end > start) return { end, lines: 1, isFull: true };
  return { end: cut(text, start, start + maxLine), lines: 1, isFull: true };
}

/** The last place up to `end` that is not within a character or an escape sequence. */
function cut(text: string, start: number, end: number): number {
  const unit = text.charCodeAt(end);
  const place = unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
  const escape = text.lastIndexOf("\x1b", place - 1);
  const isWithin =
    escape > start && place - escape < 32 && !text.slice(escape, place).includes("m");
  return isWithin ? escape : place;
}

/** The escape sequences in force after `text`, where `before` were in force ahead of it. */
function carriedColours(before: string, text: string): string {
  if (!text.includes("\x1b")) return before;
  let colours = before;
  for (const [sequence, codes] of text.matchAll(/\x1b\[([\d;]*)m/g)) {
    if (/^0*$/.test(codes!)) colours = "";
    else if (!colours.endsWith(sequence)) colours += sequence;
  }
  // What is set again and again need be set once.
  return colours.length > 500
    ? colours.slice(colours.indexOf("\x1b", colours.length - 500))
    : colours;
}

/** Milliseconds of drawing before the reader's keys have their turn. */
const slice = 8;
/** Milliseconds from one drawing to the next while more is printed. */
const rest = 80;
/** With more lines the output scrolls by itself, so that what is below it stays where it is. */
const longFrom = 500;

const stderr = "application/vnd.jupyter.stderr";

/**
 * What cells print. JupyterLab draws all of a text again whenever some is added; here only what is new
 * is drawn, in blocks that the browser lays out when they come into view.
 */
class PrintedOutput extends Widget implements IRenderMime.IRenderer {
  readonly #options: IRenderMime.IRendererOptions;
  #model: IRenderMime.IMimeModel | undefined;
  #timer: number | undefined;
  /** The text as it was seen last. */
  #text = "";
  /** The text in blocks that will not change any more. */
  #closed = "";
  #lines = 0;
  #colours = "";
  /** The block after those, drawn again with what is added to it. */
  #open: { text: string; node: HTMLElement } | undefined;
  /** The length of the text when it was first seen; what comes after it is followed. */
  #firstLength: number | undefined;
  /** Until the reader goes back, and again when they come to the end. */
  #follows = true;
  #scrolled = 0;

  constructor(options: IRenderMime.IRendererOptions) {
    super();
    this.#options = options;
    this.addClass("jp-RenderedText");
    this.addClass("arpo-Printed");
    const { node } = this;
    node.dataset["mimeType"] = options.mimeType;
    node.addEventListener("scroll", () => {
      if (node.scrollTop < this.#scrolled - 1) this.#follows = false;
      if (node.scrollTop + node.clientHeight >= node.scrollHeight - 4) this.#follows = true;
      this.#scrolled = node.scrollTop;
    });
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#model = model;
    this.toggleClass("jp-mod-trusted", model.trusted);
    if (this.#timer === undefined) await this.#draw();
  }

  override dispose(): void {
    window.clearTimeout(this.#timer);
    this.#model = undefined;
    super.dispose();
  }

  async #draw(): Promise<void> {
    const model = this.#model;
    if (model === undefined) return;
    const since = performance.now();
    const text = String(model.data[this.#options.mimeType]);
    const { node } = this;
    this.#firstLength ??= text.length;
    if (text !== this.#text) {
      if (text.slice(0, this.#closed.length) !== this.#closed) this.#reset();
      this.#text = text;
    }
    const drawn: Promise<void>[] = [];
    let isEnd = false;
    while (!isEnd && performance.now() - since < slice) {
      const block = nextBlock(text, this.#closed.length);
      isEnd = block.end === text.length;
      const piece = text.slice(this.#closed.length, block.end);
      if (piece !== (this.#open?.text ?? "")) drawn.push(this.#show(piece));
      if (!block.isFull) break;
      this.#closed = text.slice(0, block.end);
      this.#lines += block.lines;
      this.#colours = carriedColours(this.#colours, piece);
      this.#open = undefined;
    }
    if (this.#lines >= longFrom && !this.hasClass("arpo-mod-long")) {
      this.addClass("arpo-mod-long");
      node.tabIndex = 0;
      node.setAttribute("role", "group");
      node.setAttribute("aria-label", "Printed text, scrolls");
    }
    if (text.length > this.#firstLength) this.#follow();
    const pause = isEnd ? Math.max(rest, 4 * (performance.now() - since)) : 0;
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      if (!isEnd || this.#model !== undefined) void this.#draw();
    }, pause);
    if (isEnd) this.#model = undefined;
    await Promise.all(drawn);
  }

  #follow(): void {
    const { node } = this;
    const toEnd = (): void => {
      if (this.#follows && node.scrollHeight > node.clientHeight)
        node.scrollTop = node.scrollHeight;
    };
    toEnd();
    // What has come into view has its true height only now.
    requestAnimationFrame(toEnd);
  }

  #reset(): void {
    this.node.replaceChildren();
    this.#closed = "";
    this.#lines = 0;
    this.#colours = "";
    this.#open = undefined;
  }

  async #show(piece: string): Promise<void> {
    if (this.#open === undefined) {
      const node = document.createElement("div");
      node.className = "arpo-Printed-block";
      this.node.append(node);
      this.#open = { text: "", node };
    }
    this.#open.text = piece;
    const { node: host } = this.#open;
    host.replaceChildren();
    const { sanitizer, resolver, linkHandler, translator, mimeType } = this.#options;
    const source = this.#colours + piece;
    const options = { host, sanitizer, source, translator };
    if (mimeType === stderr) await renderError({ ...options, resolver, linkHandler });
    else await renderText(options);
  }
}

/** Draws what cells print. */
export const printedOutput: IRenderMime.IExtension = {
  id: "arpo-lab:printed",
  rendererFactory: {
    safe: true,
    mimeTypes: ["application/vnd.jupyter.stdout", stderr],
    createRenderer: (options) => new PrintedOutput(options),
  },
  rank: 0,
  dataType: "string",
};
