import { svgElement } from "../../../page/element.js";

const lines: Record<"previous" | "next" | "whatIf" | "export" | "view", string> = {
  previous: "M10.5 3.5L5.5 8l5 4.5",
  next: "M5.5 3.5L10.5 8l-5 4.5",
  whatIf: "M2 8h4c4 0 3-4.5 8-4.5M6 8c4 0 3 4.5 8 4.5M4.5 8a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
  export: "M8 10V2M5 5l3-3 3 3M2.5 9.5v4h11v-4",
  view: "M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M8.1 4.5a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0-3.8 0M4.1 11.5a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0-3.8 0",
};
const areas: Record<"play" | "pause", string> = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
};

export type IconName = keyof typeof lines | keyof typeof areas;

/** A small picture of what a button does. */
export function icon(name: IconName): SVGElement {
  const isArea = name in areas;
  const d = { ...lines, ...areas }[name];
  const look: Record<string, string | number> = isArea
    ? { fill: "currentColor" }
    : { fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linecap": "round" };
  return svgElement(
    "svg",
    { viewBox: "0 0 16 16", class: "ax-icon", "aria-hidden": "true" },
    svgElement("path", { d, ...look }),
  );
}
