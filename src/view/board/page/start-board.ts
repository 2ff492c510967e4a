import { startExplorer } from "../../explorer/page/start-explorer.js";
import type { ExplorerView } from "../../explorer/page/view.js";
import { carrier, element, fromHtml } from "../../page/element.js";
import type { PageColours } from "../../page/page-colours.js";
import { header } from "../../page/header.js";
import { starter } from "../../page/start-view.js";
import { statusBar } from "../../status/page/status-bar.js";
import type { BoardPayload } from "../payload.js";
import { choicesOf, ShownBoard } from "./shown-board.js";
import { comeWords } from "./come-words.js";
import { constantWords, type CurvePanel, drawPanel, panelScale } from "../../draw/draw-panel.js";
import { many } from "../../page/words.js";
import { runKey } from "../../draw/run-key.js";
import { figuresNow, figuresTable } from "./tell-figures.js";

/** Which runs are shown, and how smooth their curves are; `changed` follows every change. */
function makeControls(shown: ShownBoard, changed: () => void): HTMLElement {
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
      const words = `${name} (${seeds} ${seeds === 1 ? "seed" : "seeds"})`;
      bar.append(element("label", {}, box, runKey(i, series), words));
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

/** Pixels of a panel, and of the first one, which stands beside the tree. */
const [height, tall] = [150, 240];

/** What the pointer does on a panel. */
interface PanelEvents {
  look: (step: number) => void;
  leave: () => void;
  open: (step: number) => void;
}

/** One panel of a board, and how it is drawn anew. */
interface PagePanel {
  box: HTMLElement;
  draw: (width: number) => void;
}

/** The step of a list that is nearest to a place. */
function nearest(steps: readonly number[], distance: (step: number) => number): number {
  return steps.reduce((a, b) => (distance(b) < distance(a) ? b : a), steps[0]!);
}

/** What the lines of a panel are called. */
function keysOf({ oneRun, series }: ShownBoard, { labels }: CurvePanel): HTMLElement {
  const keys = element("span", { class: "arpo-keys" });
  if (labels.length < 2) return keys;
  labels.forEach((label, i) => {
    const colour = oneRun ? series[i % series.length]! : "currentColor";
    // The dashes of drawPanel.
    const on = [[16], [5, 8], [2, 5], [8, 11, 13, 16]][i % 4]!;
    const stops = on.map((end, k) => `${k % 2 ? "transparent" : colour} 0 ${end}px`);
    const style = `height:3px;background:repeating-linear-gradient(90deg,${stops.join(",")})`;
    keys.append(element("span", {}, element("i", { style }), label));
  });
  return keys;
}

/** A panel: its title, its figures and its curves. */
function makePanel(
  shown: ShownBoard,
  panel: CurvePanel,
  height: number,
  events: PanelEvents,
): PagePanel {
  const curve = element("div", { class: "arpo-curve" });
  const now = element("span", { class: "arpo-now" });
  const title = element("b", {}, panel.title);
  const box = element(
    "div",
    { class: "arpo-panel", title: panel.help },
    element("div", { class: "arpo-head" }, title, keysOf(shown, panel), now),
    curve,
  );
  const all = [...new Set(panel.curves.flatMap(({ x }) => x))];
  const stepAt = (event: MouseEvent) => {
    const frame = curve.getBoundingClientRect();
    const { x } = panelScale(panel, shown.viewOf(frame.width, height));
    const at = event.clientX - frame.left;
    return nearest(all, (step) => Math.abs(x(step) - at));
  };
  curve.onmousemove = (event) => events.look(stepAt(event));
  curve.onmouseleave = events.leave;
  curve.onclick = (event) => {
    const wanted = stepAt(event);
    if (shown.steps.length > 0)
      events.open(nearest(shown.steps, (step) => Math.abs(step - wanted)));
  };
  return {
    box,
    draw: (width) => {
      // The drawing holds numbers and escaped titles, nothing of what a model wrote.
      curve.innerHTML = drawPanel(panel, shown.viewOf(width, height));
      if (shown.oneRun) now.replaceChildren(...figuresNow(shown, panel));
    },
  };
}

/** The rollouts of a step: what chooses them, and the explorer that shows one. */
interface Rollouts {
  parts: HTMLElement[];
  open: (step: number) => void;
}

/** A slider over the steps, a choice of their trees, and an explorer; `moved` follows every step. */
function makeRollouts(
  root: HTMLElement,
  shown: ShownBoard,
  colours: PageColours,
  moved: () => void,
): Rollouts {
  const { payload, choices, steps, oneRun } = shown;
  const rollout = element("div", { class: "arpo-rollout" });
  const slider = element("input", {
    type: "range",
    min: "0",
    "data-scrub": "",
    "aria-label": "step",
  });
  slider.max = String(Math.max(0, steps.length - 1));
  const told = element("output", {});
  const which = element("select", {});
  const same = element("input", { type: "checkbox", "data-same": "" });
  const sameBox = element("label", {}, same, "same tree, policy of the step");
  let explorer: ExplorerView | undefined;
  let open = payload.rollouts.find(({ data }) => data === choices.open) ?? payload.rollouts.at(-1);

  function openTree(): void {
    if (!open) return;
    choices.open = choices.step === undefined ? undefined : open.data;
    const name = `${root.id}-${open.data}`;
    const tree = root.querySelector(`script[data-${open.data}]`)?.textContent ?? "";
    const holder = element(
      "div",
      { id: name, class: "arpo-view arpo-explorer" },
      carrier("tree", tree),
      open.live && carrier("live", JSON.stringify(open.live)),
    );
    rollout.replaceChildren(holder);
    explorer = startExplorer(name, colours);
    // Only a tree that was scored under the run's checkpoints can stay.
    sameBox.hidden = explorer?.facts.tree.policies === undefined;
    if (sameBox.hidden) same.checked = false;
  }
  function openStep(step: number): void {
    shown.cursor = step;
    if (same.checked && explorer) {
      tellStep(step);
      explorer.policyAt(step);
      return;
    }
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
    tellStep(step);
    openTree();
  }
  function tellStep(step: number): void {
    slider.value = String(Math.max(0, steps.indexOf(step)));
    slider.setAttribute("aria-valuetext", `step ${step}`);
    told.textContent = `step ${step} of ${payload.to}`;
    moved();
  }
  same.onchange = () => openStep(shown.cursor);
  slider.oninput = () => openStep(steps[Number(slider.value)]!);
  which.onchange = () => {
    open = payload.rollouts.find(({ data }) => data === which.value);
    openTree();
  };
  const button = (label: string, title: string, by: number) => {
    const made = element("button", { "aria-label": title }, label);
    made.onclick = () => {
      const last = by < 0 ? steps[0] : steps.at(-1);
      openStep(steps[steps.indexOf(shown.cursor) + by] ?? last!);
    };
    return made;
  };
  const chooser = element(
    "fieldset",
    { class: "arpo-bar" },
    element("legend", {}, "Rollouts of a step"),
    button("‹", "earlier step", -1),
    slider,
    button("›", "later step", 1),
    told,
    element("label", {}, "tree ", which),
    sameBox,
  );
  return { parts: [chooser, rollout], open: openStep };
}

/** What was found in the rollouts, with the steps that show it. */
function findingsBox(shown: ShownBoard, open: (step: number) => void): HTMLElement[] {
  return shown.payload.findings.map(({ title, message, count, steps }) => {
    const links = steps.map((step) => {
      const button = element("button", {}, `step ${step}`);
      button.disabled = !shown.steps.includes(step);
      button.onclick = () => open(step);
      return button;
    });
    const trajectories = `${count} ${count === 1 ? "trajectory" : "trajectories"} at step ${steps.at(-1)}`;
    return element(
      "details",
      { class: "arpo-finding" },
      element("summary", {}, element("b", {}, title), ` ${trajectories}`),
      element("p", {}, message),
      element("p", { class: "arpo-bar" }, ...links),
    );
  });
}

/** A board's title, and how far its run has come while it continues. */
function titleOf(payload: BoardPayload): HTMLElement[] {
  const { title, to, total, stopped, status } = payload;
  const head = fromHtml(header(title, comeWords(payload)));
  const now = status === undefined ? [] : [statusBar(status)];
  if (total === undefined || stopped !== undefined) return [head, ...now];
  const share = Math.round((100 * to) / total);
  const bar = element("div", { class: "arpo-progress", role: "progressbar" });
  bar.append(element("i", { style: `width:${share}%` }));
  bar.setAttribute("aria-valuenow", String(share));
  return [head, bar, ...now];
}

/** Brings one board of the page to life. */
export const startBoard = starter<BoardPayload>("board", (root, payload, { series }, colours) => {
  const shown = new ShownBoard(payload, choicesOf(root.id), series, getComputedStyle(root).color);
  const facts = element("div", { class: "arpo-facts", "aria-live": "polite" });
  const rollouts = makeRollouts(root, shown, colours, draw);
  const look = (step: number) => {
    shown.cursor = step;
    draw();
  };
  const flat = payload.panels.flatMap((panel) => constantWords(panel) ?? []);
  const known = payload.panels.filter((panel) => constantWords(panel) === undefined);
  // Scores of training and held-out ones, beside the tree; without any, what comes first.
  const wanted = known.filter(({ isFirst }) => isFirst);
  const large = wanted.length > 0 ? wanted : known.slice(0, 1);
  const drawn = [...large, ...known.filter((panel) => !large.includes(panel))];
  const panels = drawn.map((panel, i) => {
    const events = { look, leave: () => look(shown.rest), open: rollouts.open };
    return makePanel(shown, panel, i < large.length ? tall : height, events);
  });
  const [first, rest] = [panels.slice(0, large.length), panels.slice(large.length)];
  const more = element(
    "details",
    { class: "arpo-more" },
    element(
      "summary",
      {},
      `${many(rest.length, "more curve")}: ${drawn
        .slice(large.length)
        .map(({ title }) => title)
        .join(", ")}`,
    ),
    element("div", { class: "arpo-panels" }, ...rest.map(({ box }) => box)),
  );
  // Without a tree beside the score there is room.
  more.open = shown.choices.isOpen ?? shown.steps.length === 0;
  more.ontoggle = () => {
    shown.choices.isOpen = more.open;
    draw();
  };
  more.hidden = rest.length === 0;

  function draw(): void {
    const widthOf = (panel: PagePanel | undefined) => Math.max(240, panel?.box.clientWidth || 320);
    for (const panel of first) panel.draw(widthOf(panel));
    if (more.open) for (const panel of rest) panel.draw(widthOf(rest[0]));
    if (!shown.oneRun) facts.replaceChildren(figuresTable(shown));
  }

  root.querySelector("[data-picture]")?.remove();
  root.append(
    ...titleOf(payload),
    makeControls(shown, draw),
    // The score, with the tree of the step beside it where there is room.
    element(
      "div",
      { class: "arpo-first" },
      first.length > 0 ? element("div", {}, ...first.map(({ box }) => box)) : undefined,
      shown.steps.length > 0 ? element("div", {}, ...rollouts.parts) : undefined,
    ),
    more,
    flat.length > 0
      ? element("p", { class: "arpo-muted" }, `The same at every step: ${flat.join(" · ")}`)
      : "",
    facts,
    ...findingsBox(shown, rollouts.open),
  );
  const { steps, cursor } = shown;
  if (steps.length > 0) rollouts.open(steps.includes(cursor) ? cursor : steps.at(-1)!);
  else draw();
  new ResizeObserver(draw).observe(root);
});
