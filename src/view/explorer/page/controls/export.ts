import { closedPageMeta } from "../../../../../common/picture/closed-page.js";
import { escapeHtml } from "../../../../../common/picture/escape.js";
import { element } from "../../../page/element.js";
import { canvasPainter } from "../../../draw/canvas-painter.js";
import { drawWhole, wholeSvg } from "../draw/whole-tree.js";
import { svgPainter } from "../../../draw/svg-painter.js";
import { questionOf } from "../tree/header-words.js";
import type { ExplorerView } from "../view.js";
import { tableRows } from "./trajectory-table.js";

/** The tree as a picture of pixels, twice as fine as the screen. */
async function treePng(view: ExplorerView): Promise<Blob> {
  const scale = 2;
  const measuring = drawWhole(view.scene(true), view.summary(), svgPainter(), () => undefined);
  const canvas = element("canvas");
  canvas.width = Math.round(measuring.width * scale);
  canvas.height = Math.round(measuring.height * scale);
  const context = canvas.getContext("2d")!;
  context.scale(scale, scale);
  const painter = canvasPainter(context);
  drawWhole(view.scene(true), view.summary(), painter, (top, draw) => {
    context.save();
    context.translate(0, top);
    draw(painter);
    context.restore();
  });
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("Cannot export a PNG: the tree must fit a canvas, got one too large"));
    }),
  );
}

/** What a page of the tree alone is made of, where this page holds it. */
function pageParts(
  view: ExplorerView,
): { program: string; style: string; tree: string } | undefined {
  const tree = view.root.parentElement?.querySelector("script[data-tree]")?.textContent;
  // The program of this explorer, or of the view that it is part of.
  for (let at = view.root.parentElement; at; at = at.parentElement) {
    const script = [...at.children].find(
      (child) => child.tagName === "SCRIPT" && !child.hasAttribute("type"),
    )?.textContent;
    const start = script?.lastIndexOf("\nconst start=()=>page.start(") ?? -1;
    if (!script || start < 0 || tree == null) continue;
    const style = [...at.children].find((child) => child.tagName === "STYLE")?.textContent ?? "";
    return { program: script.slice("(()=>{".length, start), style, tree };
  }
  return undefined;
}

/** A page that shows the tree as this one does, in one file. */
function treePage(view: ExplorerView, parts: NonNullable<ReturnType<typeof pageParts>>): string {
  const { program, style, tree } = parts;
  const colours = JSON.stringify(view.colours).replace(/</g, "\\u003c");
  // Written by the page itself: this program's text holds no such tags.
  const script = (text: string, attributes: Record<string, string> = {}) => {
    const made = element("script", attributes);
    made.textContent = text;
    return made.outerHTML;
  };
  const data = { type: "application/json", "data-tree": "" };
  const start = `page.start("tree",${colours})`;
  const run = `(()=>{${program}\nconst start=()=>${start};(page.startTree??page.start)("tree",${colours});})()`;
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${closedPageMeta}<meta name="viewport" content="width=device-width">` +
    `<title>${escapeHtml(questionOf(view.facts.tree.prompt))}</title><style>:root{color-scheme:light dark}body{margin:16px auto;max-width:1500px;padding:0 12px}</style></head>` +
    `<body data-alone><div id="tree" class="arpo-view arpo-explorer"><style>${style}</style>` +
    `${script(tree.replace(/</g, "\\u003c"), data)}${script(run)}</div></body></html>\n`
  );
}

/** What a page that makes links to its trees is asked for. */
export interface LinkAsked {
  place: Readonly<Record<"t" | "node" | "token", number>>;
  /** Copies the address, or says why there is none. */
  copy: (address: string) => void;
  say: (text: string) => void;
}

/** Copies a link to what is selected: the page's address, or one that the page makes, with the tree in it. */
function copyLink(view: ExplorerView): void {
  const say = (text: string) => view.say(text, true);
  const copy = (address: string) => {
    navigator.clipboard.writeText(address).then(
      () => say("Copied the link"),
      () => say("The link is the page's address now"),
    );
  };
  const { trajectory: t, selected: node, token } = view.state;
  const detail: LinkAsked = { place: { t, node, token }, copy, say };
  const how = { bubbles: true, cancelable: true, detail };
  if (view.root.dispatchEvent(new CustomEvent("arpo-lab:link", how))) copy(location.href);
}

/** Saves the tree in other forms. */
export function exportMenu(view: ExplorerView): HTMLElement {
  const save = (body: string | Blob, extension: string, type = "") => {
    const blob = typeof body === "string" ? new Blob([body], { type }) : body;
    const link = element("a", { href: URL.createObjectURL(blob) });
    link.download = `rollout-tree.${extension}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 5000);
    view.say(`Saved ${link.download}`, true);
  };
  const item = (name: string, what: string, kind: string, make: () => void) => {
    const button = element(
      "button",
      { type: "button", "data-export": kind },
      name,
      element("small", {}, what),
    );
    button.onclick = () => {
      button.dispatchEvent(new Event("close-menu", { bubbles: true }));
      make();
    };
    return button;
  };
  const csv = () =>
    tableRows(view.facts)
      .map((row) =>
        row.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell)).join(","),
      )
      .join("\n");
  const menu = element(
    "div",
    {},
    item("SVG", "vector, for papers", "svg", () =>
      save(wholeSvg(view.scene(true), view.summary()), "svg", "image/svg+xml"),
    ),
    item("PNG", "2×, for slides", "png", () => {
      treePng(view).then(
        (blob) => save(blob, "png"),
        (error: unknown) => view.say(error instanceof Error ? error.message : String(error), true),
      );
    }),
  );
  const parts = pageParts(view);
  if (parts) {
    menu.append(
      item("HTML page", "interactive, one file", "html", () =>
        save(treePage(view, parts), "html", "text/html"),
      ),
    );
  }
  if (view.address.isOwn || "links" in document.body.dataset) {
    menu.append(item("Link", "to what is selected", "link", () => copyLink(view)));
  }
  menu.append(
    item("Data", "the tree as JSON", "json", () =>
      save(
        view.root.parentElement?.querySelector("script[data-tree]")?.textContent ?? "",
        "json",
        "application/json",
      ),
    ),
    item("Table", "CSV, one line per trajectory", "csv", () =>
      save(`${csv()}\n`, "csv", "text/csv"),
    ),
  );
  return menu;
}
