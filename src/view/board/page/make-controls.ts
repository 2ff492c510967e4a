import { element } from "../../page/element.js";
import type { ShownBoard } from "./shown-board.js";

/** Which runs are shown, and how smooth their curves are; `changed` follows every change. */
export function makeControls(shown: ShownBoard, changed: () => void): HTMLElement {
  const { payload, choices, series } = shown;
  const bar = element("div", { class: "arpo-bar" });
  if (!shown.oneRun) {
    payload.runs.forEach(({ name, seeds }, i) => {
      const box = element("input", { type: "checkbox" });
      box.checked = !choices.hidden.includes(i);
      box.onchange = () => {
        choices.hidden = choices.hidden.filter((each) => each !== i).concat(box.checked ? [] : [i]);
        changed();
      };
      const style = `background:${series[i % series.length]!}`;
      const words = `${name} (${seeds} ${seeds === 1 ? "seed" : "seeds"})`;
      bar.append(element("label", {}, box, element("i", { class: "arpo-key", style }), words));
    });
  }
  const range = { type: "range", min: "0", max: "0.95", step: "0.05", "data-smooth": "" };
  const smooth = element("input", range);
  smooth.value = String(choices.smoothing);
  smooth.oninput = () => {
    choices.smoothing = Number(smooth.value);
    changed();
  };
  bar.append(element("label", {}, "smoothing ", smooth));
  return bar;
}
