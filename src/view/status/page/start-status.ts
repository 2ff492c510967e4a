import { lastOf, type LiveCurves } from "../../../base/show/live-curves.js";
import type { LiveMore } from "../../../base/show/show-as.js";
import { runKey } from "../../draw/run-key.js";
import { element } from "../../page/element.js";
import { starter } from "../../page/start-view.js";
import { curvesPicture } from "../curves-picture.js";
import type { WorkStatus } from "../payload.js";
import { statusBar } from "./status-bar.js";

/** The curves of work that goes on: a title, a key with the last values, and a picture. */
function makeCurves(root: HTMLElement, series: readonly string[]) {
  const title = element("b", {});
  const keys = element("div", { class: "arpo-bar" });
  const picture = element("div", {});
  const box = element("div", { class: "arpo-curves" }, title, keys, picture);
  let known: LiveCurves | undefined;
  const draw = () => {
    box.hidden = known === undefined;
    if (!known) return;
    title.textContent = `${known.title}, mean of the seeds so far with its 95% interval`;
    keys.replaceChildren(
      ...known.curves.map((curve, i) =>
        element("span", {}, runKey(i, series), `${curve.name}: ${lastOf(curve)}`),
      ),
    );
    const width = Math.max(240, Math.min(620, root.clientWidth));
    const ink = getComputedStyle(root).color;
    // The drawing holds numbers and escaped titles, nothing of what a model wrote.
    picture.innerHTML = curvesPicture(known, { width, colours: series, ink });
  };
  new ResizeObserver(draw).observe(root);
  return {
    box,
    show: (curves: LiveCurves | undefined) => {
      known = curves;
      draw();
    },
  };
}

/** Brings the status of work that goes on to life. */
export const startStatus = starter<WorkStatus>("status", (root, status, { series }) => {
  const done = element("progress", { max: "1", "aria-label": "how much is done" });
  const table = element("pre", {});
  const curves = makeCurves(root, series);
  const show = ({ share, table: text, curves: given }: LiveMore) => {
    done.hidden = share === undefined;
    if (share !== undefined) done.value = share;
    table.hidden = text === undefined;
    table.textContent = text ?? "";
    curves.show(given);
  };
  root.querySelector("[data-picture]")?.remove();
  root.append(statusBar(status, show), done, table, curves.box);
  show(status);
});
