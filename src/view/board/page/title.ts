import { element } from "../../page/element.js";
import type { BoardPayload } from "../payload.js";

/** A board's title, and how far its run has come while it goes on. */
export function titleOf({ title, to, total }: BoardPayload): HTMLElement[] {
  const words = total === undefined ? "" : `step ${to} of ${total}`;
  const told = element("span", { class: "arpo-muted" }, words);
  const head = element("div", { class: "arpo-title" }, element("b", {}, title), told);
  if (total === undefined) return [head];
  const share = Math.round((100 * to) / total);
  const bar = element("div", { class: "arpo-progress", role: "progressbar" });
  bar.append(element("i", { style: `width:${share}%` }));
  bar.setAttribute("aria-valuenow", String(share));
  return [head, bar];
}
