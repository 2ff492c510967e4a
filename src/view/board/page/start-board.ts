import type { PageColours } from "../../explorer/page/colours.js";
import { element } from "../../explorer/page/element.js";
import { startExplorer } from "../../explorer/page/start.js";
import type { BoardPayload } from "../payload.js";
import { drawPanel, panelScale, type PanelView, smoothed } from "./draw-panel.js";

/** What the reader chose; it outlives the board being shown anew while a run goes on. */
interface BoardChoices {
  smoothing: number;
  hidden: number[];
  /** Undefined while the newest step is followed. */
  step?: number | undefined;
  open?: string | undefined;
}

/** Brings one board of the page to life. */
export function startBoard(
  id: string,
  colours: PageColours & { light: { series: string[] }; dark: { series: string[] } },
): void {
  // Where a board replaces itself, the new one is the last of its name.
  const root = [...document.querySelectorAll<HTMLElement>(`[id="${id}"]`)].at(-1);
  const source = root?.querySelector("script[data-board]")?.textContent;
  if (!root || source == null) return;
  const payload = JSON.parse(source) as BoardPayload;
  const memory = globalThis as { arpoBoards?: Record<string, BoardChoices> };
  memory.arpoBoards ??= {};
  const choices = (memory.arpoBoards[id] ??= { smoothing: 0, hidden: [] });
  const channels = (getComputedStyle(root).color.match(/[\d.]+/g) ?? []).map(Number);
  const isDark = 0.3 * channels[0]! + 0.59 * channels[1]! + 0.11 * channels[2]! > 140;
  root.dataset["theme"] = isDark ? "dark" : "light";
  const { series } = isDark ? colours.dark : colours.light;
  const ink = getComputedStyle(root).color;
  const oneRun = payload.runs.length === 1;
  const show = (x: number) => String(Number(x.toPrecision(3)));
  const last = payload.rollouts.at(-1);
  let open = payload.rollouts.find(({ data }) => data === choices.open) ?? last;
  let cursor = choices.step ?? open?.step ?? payload.to;

  const panels = element("div", { class: "arpo-panels" });
  const facts = element("div", { class: "arpo-facts", "aria-live": "polite" });
  const rollout = element("div", { class: "arpo-rollout" });
  const steps = [...new Set(payload.rollouts.map(({ step }) => step))];
  const slider = element("input", { type: "range", min: "0", "data-scrub": "" });
  slider.max = String(Math.max(0, steps.length - 1));
  const told = element("output", {});
  const which = element("select", {});

  function viewOf(width: number, height: number): PanelView {
    return {
      ...{
        width,
        height,
        from: payload.from,
        to: payload.to,
        colours: series,
        ink,
        oneRun,
        cursor,
      },
      ...{ smoothing: choices.smoothing, hidden: choices.hidden },
    };
  }
  function drawPanels(): void {
    const width = Math.max(240, panels.firstElementChild?.clientWidth ?? 320);
    for (const [i, panel] of payload.panels.entries()) {
      const place = panels.children[i]!.querySelector(".arpo-curve")!;
      // The drawing holds numbers and escaped titles, nothing of what a model wrote.
      place.innerHTML = drawPanel(panel, viewOf(width, 150));
    }
    tellFigures(cursor);
  }
  /** A panel's figures at a step, for one run. */
  function valuesAt(panel: BoardPayload["panels"][number], run: number, step: number) {
    return panel.curves.flatMap((curve) => {
      const i = curve.run === run ? curve.x.indexOf(step) : -1;
      if (i < 0) return [];
      const bend = choices.smoothing > 0 && !panel.stacked;
      const value = (bend ? smoothed(curve.y, choices.smoothing) : curve.y)[i]!;
      const half = curve.high ? ` ± ${show(curve.high[i]! - curve.y[i]!)}` : "";
      return [{ label: curve.label, text: `${show(value)}${half}` }];
    });
  }
  /** The figures at a step: over their panels for one run, in a table for several. */
  function tellFigures(step: number): void {
    if (oneRun) {
      payload.panels.forEach((panel, i) => {
        const now = panels.children[i]!.querySelector(".arpo-now")!;
        const found = valuesAt(panel, 0, step);
        const parts = found.map(({ label, text }) => {
          const colour = series[panel.labels.indexOf(label) % series.length]!;
          const style = found.length > 1 ? `color:${colour}` : "";
          return element("span", { style, title: label }, ` ${text}`);
        });
        const sum = panel.stacked ? found.reduce((all, { text }) => all + Number(text), 0) : 0;
        now.replaceChildren(...(panel.stacked ? [show(sum)] : parts));
      });
      return;
    }
    const heads = [`step ${step}`, ...payload.panels.map(({ title }) => title)];
    const table = element("table", {});
    table.append(element("tr", {}, ...heads.map((head) => element("th", {}, head))));
    payload.runs.forEach(({ name }, run) => {
      if (choices.hidden.includes(run)) return;
      const cells = payload.panels.map((panel) =>
        valuesAt(panel, run, step)
          .map(({ label, text }) => (panel.labels.length > 1 ? `${label} ${text}` : text))
          .join(" · "),
      );
      table.append(element("tr", {}, ...[name, ...cells].map((cell) => element("td", {}, cell))));
    });
    facts.replaceChildren(element("div", { class: "arpo-wide" }, table));
  }
  function openStep(step: number): void {
    cursor = step;
    // Who looks at the newest step follows the run; who went back to one stays there.
    choices.step = step === steps.at(-1) ? undefined : step;
    const here = payload.rollouts.filter((each) => each.step === step);
    which.replaceChildren(
      ...here.map(({ run, seed, label, data }) => {
        const name = oneRun ? "" : `${payload.runs[run]!.name}, `;
        const of = payload.runs[run]!.seeds > 1 ? `seed ${seed + 1}, ` : "";
        return element("option", { value: data }, `${name}${of}${label}`);
      }),
    );
    open = here.find(({ run, seed }) => run === open?.run && seed === open.seed) ?? here[0];
    if (open) which.value = open.data;
    slider.value = String(Math.max(0, steps.indexOf(step)));
    slider.setAttribute("aria-valuetext", `step ${step}`);
    told.textContent = `step ${step} of ${payload.to}`;
    drawPanels();
    openTree();
  }
  function openTree(): void {
    if (!open) return;
    choices.open = choices.step === undefined ? undefined : open.data;
    const tree = root!.querySelector(`script[data-${open.data}]`)?.textContent ?? "";
    const name = `${id}-${open.data}`;
    const carried = element("script", { type: "application/json", "data-tree": "" });
    carried.textContent = tree;
    const holder = element("div", { id: name, class: "arpo-view arpo-explorer" }, carried);
    if (open.live) {
      const live = element("script", { type: "application/json", "data-live": "" });
      live.textContent = JSON.stringify(open.live);
      holder.append(live);
    }
    rollout.replaceChildren(holder);
    startExplorer(name, colours);
  }
  slider.oninput = () => openStep(steps[Number(slider.value)]!);
  which.onchange = () => {
    open = payload.rollouts.find(({ data }) => data === which.value);
    openTree();
  };
  const move = (by: number) => {
    const next = steps[steps.indexOf(cursor) + by] ?? (by < 0 ? steps[0] : steps.at(-1));
    if (next !== undefined) openStep(next);
  };
  const button = (label: string, by: number) => {
    const made = element("button", { "aria-label": by < 0 ? "earlier step" : "later step" }, label);
    made.onclick = () => move(by);
    return made;
  };

  for (const panel of payload.panels) {
    const legend = element("span", { class: "arpo-keys" });
    if (panel.labels.length > 1) {
      panel.labels.forEach((label, i) => {
        const colour = oneRun ? series[i % series.length]! : "currentColor";
        // The dashes of drawPanel.
        const on = [[16], [5, 8], [2, 5], [8, 11, 13, 16]][i % 4]!;
        const stops = on.map((end, k) => `${k % 2 ? "transparent" : colour} 0 ${end}px`);
        const style = `height:3px;background:repeating-linear-gradient(90deg,${stops.join(",")})`;
        legend.append(element("span", {}, element("i", { style }), label));
      });
    }
    const curve = element("div", { class: "arpo-curve" });
    const now = element("span", { class: "arpo-now" });
    const box = element(
      "div",
      { class: "arpo-panel", title: panel.help },
      element("div", { class: "arpo-head" }, element("b", {}, panel.title), legend, now),
      curve,
    );
    const stepAt = (event: MouseEvent) => {
      const frame = curve.getBoundingClientRect();
      const { x } = panelScale(panel, viewOf(frame.width, 150));
      const at = event.clientX - frame.left;
      const all = [...new Set(panel.curves.flatMap((c) => c.x))];
      return all.reduce((a, b) => (Math.abs(x(b) - at) < Math.abs(x(a) - at) ? b : a), all[0]!);
    };
    curve.onmousemove = (event) => {
      cursor = stepAt(event);
      drawPanels();
    };
    curve.onmouseleave = () => {
      cursor = choices.step ?? steps.at(-1) ?? payload.to;
      drawPanels();
    };
    curve.onclick = (event) => {
      const wanted = stepAt(event);
      const near = steps.reduce(
        (a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a),
        steps[0]!,
      );
      if (steps.length > 0) openStep(near);
    };
    panels.append(box);
  }
  const runs = element("div", { class: "arpo-bar" });
  if (!oneRun) {
    payload.runs.forEach(({ name, seeds }, i) => {
      const box = element("input", { type: "checkbox" });
      box.checked = !choices.hidden.includes(i);
      box.onchange = () => {
        choices.hidden = choices.hidden.filter((each) => each !== i).concat(box.checked ? [] : [i]);
        drawPanels();
      };
      const key = element("i", {
        class: "arpo-key",
        style: `background:${series[i % series.length]!}`,
      });
      runs.append(
        element("label", {}, box, key, `${name} (${seeds} ${seeds === 1 ? "seed" : "seeds"})`),
      );
    });
  }
  const smooth = element("input", {
    type: "range",
    min: "0",
    max: "0.95",
    step: "0.05",
    "data-smooth": "",
  });
  smooth.value = String(choices.smoothing);
  smooth.oninput = () => {
    choices.smoothing = Number(smooth.value);
    drawPanels();
  };
  runs.append(element("label", {}, "smoothing ", smooth));

  const progress = payload.total === undefined ? "" : `step ${payload.to} of ${payload.total}`;
  const bar = element("div", { class: "arpo-progress", role: "progressbar" });
  if (payload.total !== undefined) {
    const share = Math.round((100 * payload.to) / payload.total);
    bar.append(element("i", { style: `width:${share}%` }));
    bar.setAttribute("aria-valuenow", String(share));
  }
  root.querySelector("[data-picture]")?.remove();
  root.append(
    element(
      "div",
      { class: "arpo-title" },
      element("b", {}, payload.title),
      element("span", { class: "arpo-muted" }, progress),
    ),
    ...(payload.total === undefined ? [] : [bar]),
    runs,
    panels,
    facts,
  );
  if (steps.length > 0) {
    root.append(
      element(
        "fieldset",
        { class: "arpo-bar" },
        element("legend", {}, "Rollouts of a step"),
        button("‹", -1),
        slider,
        button("›", 1),
        told,
        element("label", {}, "tree ", which),
      ),
      rollout,
    );
    openStep(steps.includes(cursor) ? cursor : steps.at(-1)!);
  } else drawPanels();
  new ResizeObserver(() => drawPanels()).observe(root);
}
