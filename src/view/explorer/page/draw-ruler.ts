import { element } from "../../page/element.js";

/** What a ruler depends on; the same as the drawing above it. */
export interface Ruled {
  inset: number;
  scale: number;
  left: number;
  width: number;
}

/** Marks below the tree: how many tokens, or how much time, from the prompt. */
export function drawRuler(ruler: HTMLElement, view: Ruled, along: "tokens" | "time"): void {
  const apart = 90 / view.scale;
  const power = 10 ** Math.floor(Math.log10(apart));
  const step = Math.max(1, power * ([1, 2, 5].find((m) => m * power >= apart) ?? 10));
  const from = Math.max(0, Math.ceil((view.left - view.inset) / view.scale / step));
  const to = Math.floor((view.left + view.width - view.inset - 8) / view.scale / step);
  const seconds = along === "time" && step >= 1000;
  const unit = along === "tokens" ? "tokens" : seconds ? "s" : "ms";
  const marks = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => {
    const value = (from + i) * step;
    const text = `${seconds ? value / 1000 : value}${i === 0 ? ` ${unit}` : ""}`;
    const at = view.inset + value * view.scale - view.left;
    return element("span", { style: `left:${at.toFixed(1)}px` }, text);
  });
  ruler.replaceChildren(...marks);
}
