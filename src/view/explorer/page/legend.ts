import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import type { ShownTree } from "./shown-tree.js";

const ring = "border:1.5px solid currentColor;border-radius:50%;width:9px;height:9px;";

const key = (look: string, name: string) =>
  element("span", {}, element("i", { class: "arpo-key", style: look }), name);

/** What the colours and marks of the drawing mean. */
export function legendOf({ choices, colouring, scored }: ShownTree): HTMLElement[] {
  const { low, high, colour } = colouring;
  const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => colour(low + t * (high - low)));
  const ramp = `background:linear-gradient(90deg,${stops.join(",")})`;
  return [
    element(
      "span",
      {},
      `${choices.quantity} ${numberText(low, 3)} `,
      element("i", { class: "arpo-ramp", style: ramp }),
      ` ${numberText(high, 3)}${choices.quantity === "entropy" ? " nats" : ""}`,
    ),
    key("background:#5f9e8f;height:7px", "a tool answered"),
    key(`${ring}background:var(--hot)`, "branches"),
    key(ring, "does not branch"),
    key(`${ring}outline:1.5px solid var(--hot);outline-offset:1px`, "otherwise than it did"),
    ...(scored ? [element("span", {}, "after each trajectory: its score")] : []),
  ];
}
