import { plusMinus } from "../../../base/text/interval-text.js";
import { element, fromHtml } from "../../page/element.js";
import { table, wide } from "../../page/table.js";
import { numberText } from "../../page/words.js";
import { type CurvePanel, smoothed } from "../../draw/draw-panel.js";
import type { ShownBoard } from "./shown-board.js";

/** A panel's figures at the step that is looked at, for one run. */
function figuresOf(
  { choices, cursor }: ShownBoard,
  panel: CurvePanel,
  run: number,
): { label: string; text: string; value: number }[] {
  return panel.curves.flatMap((curve) => {
    const i = curve.run === run ? curve.x.indexOf(cursor) : -1;
    if (i < 0) return [];
    const bend = choices.smoothing > 0 && !panel.stacked;
    const value = (bend ? smoothed(curve.y, choices.smoothing) : curve.y)[i]!;
    const end = curve.high?.[i] ?? null;
    const text = end === null ? numberText(value, 3) : plusMinus(value, end - curve.y[i]!);
    return [{ label: curve.label, text, value }];
  });
}

/** A panel's figures of the only run, in the colours of their curves; a stacked panel's sum. */
export function figuresNow(shown: ShownBoard, panel: CurvePanel): (string | HTMLElement)[] {
  const found = figuresOf(shown, panel, 0);
  if (panel.stacked) {
    return [
      numberText(
        found.reduce((all, { value }) => all + value, 0),
        3,
      ),
    ];
  }
  const { series } = shown;
  return found.map(({ label, text }) => {
    const colour = series[panel.labels.indexOf(label) % series.length]!;
    // Text in a curve's colour would be faint: the colour underlines it.
    const style = found.length > 1 ? `border-bottom:2px solid ${colour};margin-left:6px` : "";
    return element("span", { style, title: label }, found.length > 1 ? text : ` ${text}`);
  });
}

/** The figures of several runs side by side. */
export function figuresTable(shown: ShownBoard): HTMLElement {
  const { payload, choices, cursor } = shown;
  const heads = [`step ${cursor}`, ...payload.panels.map(({ title }) => title)];
  const rows = payload.runs.flatMap(({ name }, run) => {
    if (choices.hidden.includes(run)) return [];
    const cells = payload.panels.map((panel) =>
      figuresOf(shown, panel, run)
        .map(({ label, text }) => (panel.labels.length > 1 ? `${label} ${text}` : text))
        .join(" · "),
    );
    return [[name, ...cells]];
  });
  return fromHtml(wide("last values", table(rows, heads)));
}
