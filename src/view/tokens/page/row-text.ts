import { element } from "../../page/element.js";
import type { TokenPayload } from "../payload.js";
import type { TokenQuantity } from "../quantities.js";
import type { Colouring } from "./colouring.js";
import type { PageTokens, UnpackedPanel } from "./read-tokens.js";

/** Tokens shown before the rest is left to a click. */
const most = 600;

/** A trajectory's tokens as text on their colours; one at a time is looked at, by pointer or arrow keys. */
export function rowText(
  { payload, text }: PageTokens,
  panel: UnpackedPanel,
  row: TokenPayload["rows"][number],
  quantity: TokenQuantity,
  colouring: Colouring,
  look: (token: number) => void,
): HTMLElement {
  const values = panel.values.get(quantity);
  const differs = new Set(payload.differs);
  const box = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
  box.setAttribute("aria-label", `${panel.name}, ${row.label}: arrow keys move over the tokens`);
  const untrained = payload.regions.length - 1;
  const end = row.start + row.length;
  let next = row.start;
  const more = () => {
    const stop = Math.min(end, next + most);
    for (; next < stop; next++) {
      const span = element("span", { "data-token": String(next) }, (panel.text ?? text)(next));
      const value = values?.[next] ?? NaN;
      span.style.background = colouring.colour(value);
      const place = panel.region[next]!;
      // Not by colour alone: what lost its gradient is struck out, what lies outside is underlined.
      if (place === untrained) span.className = "arpo-untrained";
      else if (place > 0) {
        span.className = panel.values.get("weight")![next] === 0 ? "arpo-lost" : "arpo-kept";
      }
      if (place !== untrained && colouring.isLess(value)) span.classList.add("arpo-less");
      if (differs.has(next)) span.classList.add("arpo-differs");
      box.append(span);
    }
    if (next >= end) return;
    const button = element("button", {}, `${end - next} more tokens`);
    button.onclick = () => {
      button.remove();
      more();
    };
    box.append(button);
  };
  more();
  let current = row.start - 1;
  const pointed = (event: Event) => {
    const { token } = (event.target as HTMLElement).dataset;
    if (token !== undefined) look((current = Number(token)));
  };
  box.onclick = pointed;
  box.onmouseover = pointed;
  box.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    look((current = Math.max(row.start, Math.min(end - 1, current + step))));
  };
  return box;
}
