import { defined } from "../../../common/options/defined.js";
import type { LiveCurves } from "../../base/show/live-curves.js";
import { drawPanel } from "../draw/draw-panel.js";

/** How the curves of work that goes on are drawn. */
interface CurvesPictureOptions {
  width: number;
  colours: readonly string[];
  ink: string;
}

/** The curves of work that goes on, drawn as a board draws its runs. */
export function curvesPicture(
  { title, x: axis, curves }: LiveCurves,
  { width, colours, ink }: CurvesPictureOptions,
): string {
  const xs = curves.flatMap(({ x }) => x);
  const panel = {
    ...{ title, help: "", stacked: false, labels: [title] },
    curves: curves.map(({ x, y, low, high, range }, run) => ({
      ...{ run, label: title, x, y, low, high },
      ...defined({ range }),
    })),
  };
  return drawPanel(panel, {
    ...{ width, height: 180, from: Math.min(...xs), to: Math.max(...xs), axis, colours, ink },
    ...{ smoothing: 0, hidden: [], oneRun: curves.length === 1 },
  });
}
