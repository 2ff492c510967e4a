import { element } from "./element.js";
import { grey } from "../../../common/picture/grey.js";

/** A ramp of colours from a lowest to a highest value; grey for NaN. */
export function colourRamp(
  stops: readonly string[],
  low: number,
  high: number,
): (value: number) => string {
  const steps = 64;
  const rgb = stops.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)));
  const ramp = Array.from({ length: steps }, (_, i) => {
    const place = (i / (steps - 1)) * (rgb.length - 1);
    const from = Math.min(rgb.length - 2, Math.floor(place));
    const mixed = [0, 1, 2].map((c) =>
      Math.round(rgb[from]![c]! + (rgb[from + 1]![c]! - rgb[from]![c]!) * (place - from)),
    );
    return `rgb(${mixed.join(",")})`;
  });
  const level = (v: number) => Math.round(((v - low) / (high - low)) * (steps - 1));
  return (v) => (Number.isNaN(v) ? grey(0.18) : ramp[Math.max(0, Math.min(steps - 1, level(v)))]!);
}

/** A ramp as a legend shows it, of colours by their place from 0 to 1. */
export function rampKey(colour: (place: number) => string): HTMLElement {
  const stops = [0, 0.25, 0.5, 0.75, 1].map(colour).join(",");
  return element("i", { class: "arpo-ramp", style: `background:linear-gradient(90deg,${stops})` });
}
