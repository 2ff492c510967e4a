import { followPlan } from "../../../rollout/follow-plan.js";
import type { ExplorerPayload, LiveTree } from "../payload.js";
import { makeActions } from "./actions.js";
import { colouringOf, type PageColours } from "./colours.js";
import { type Choices, makeControls, replayWords } from "./controls.js";
import { drawRuler } from "./draw-ruler.js";
import { drawTree, type Scene } from "./draw.js";
import { element } from "./element.js";
import { heatText } from "./heat-text.js";
import { nodeDetails, rowTokens } from "./node-details.js";
import { pathOf, sharedTokens, spansOf } from "./paths.js";
import { unpackTree } from "./unpack.js";

/** Brings one explorer of the page to life. */
export function startExplorer(id: string, colours: PageColours): void {
  const root = document.getElementById(id);
  const source = root?.querySelector("script[data-tree]")?.textContent;
  if (!root || source == null) return;
  const tree = unpackTree(JSON.parse(source) as ExplorerPayload);
  const lived = root.querySelector("script[data-live]")?.textContent;
  const live = lived == null ? undefined : (JSON.parse(lived) as LiveTree);
  const choices: Choices = {
    ...{ quantity: "entropy", along: "tokens" },
    ...{ changes: {}, follow: -1, compare: -1 },
  };
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  canvas.setAttribute(
    "aria-label",
    `Rollout tree: ${tree.title}. Arrow keys move from node to node, plus and minus zoom.`,
  );
  // As large as the whole drawing; the canvas stays in view inside it and draws only what is seen.
  const spacer = element("div", {}, canvas);
  const scroller = element("div", { class: "arpo-scroll" }, spacer);
  const ruler = element("div", { class: "arpo-ruler", "aria-hidden": "true" });
  const legend = element("div", { class: "arpo-legend" });
  const count = element("output", { class: "arpo-count", "aria-live": "polite" });
  const details = element("div", { class: "arpo-details" });
  const trail = element("div", { class: "arpo-trail" });
  const lane = 20;
  const inset = 28;
  // Scores stand behind their rows.
  const scored = tree.rows.some(({ score }) => score != null);
  const behind = scored ? 44 : 10;
  let spans = spansOf(tree, choices.along);
  let longest = 1;
  const strips = new Map<number, HTMLCanvasElement>();
  const height = Math.min(420, Math.max(lane, tree.rows.length * lane)) + 16;
  let zoom = 1;
  let selected = -1;
  let replay = followPlan(tree.plan, {});
  let asked = false;

  const channel = (i: number) => Number(getComputedStyle(root!).color.match(/[\d.]+/g)?.[i] ?? 0);
  const isDark = () => 0.3 * channel(0) + 0.59 * channel(1) + 0.11 * channel(2) > 140;
  root.dataset["theme"] = isDark() ? "dark" : "light";
  const ramps = () => (isDark() ? colours.dark : colours.light);
  let colouring = colouringOf(tree, choices.quantity, ramps());

  // A tree that was forked off takes the place of this one; a button leads back.
  let forked = 0;
  const actions = makeActions(tree, live, (reply, channel) => {
    const {
      name,
      tree: payload,
      live: key,
    } = reply as { tree: unknown; live?: unknown; name: string };
    const own = [...root.children].filter((child) => child.tagName !== "SCRIPT");
    const data = (kind: string, value: unknown) => {
      const script = element("script", { type: "application/json", [`data-${kind}`]: "" });
      script.textContent = JSON.stringify(value);
      return script;
    };
    const inner = element("div", { id: `${id}-${forked++}`, class: "arpo-view arpo-explorer" });
    inner.append(data("tree", payload));
    if (key !== undefined) inner.append(data("live", key));
    const back = element("button", {}, "‹ back to the tree it came from");
    const bar = element(
      "div",
      { class: "arpo-bar arpo-fork" },
      back,
      element("span", {}, "In cells this tree is ", element("code", {}, name), "."),
    );
    const holder = element("div", { class: "arpo-forked" }, bar, inner);
    if (channel.insertCell) {
      const open = element("button", {}, "open in a cell");
      const source = `import { forks } from "arpo-lab";\n${name}`;
      open.onclick = () => channel.insertCell?.(source, { run: true });
      bar.append(open);
    }
    for (const child of own) (child as HTMLElement).style.display = "none";
    back.onclick = () => {
      holder.remove();
      for (const child of own) (child as HTMLElement).style.display = "";
      draw();
    };
    root.append(holder);
    startExplorer(inner.id, colours);
  });

  const paths = () => [choices.follow, choices.compare].filter((row) => row >= 0);
  function scene(): Scene {
    const width = scroller.clientWidth || 720;
    const rows = paths();
    return {
      ...{ tree, colouring, replay, spans, strips, lane, selected, width, height: height - 16 },
      ink: getComputedStyle(root!).color,
      accent: isDark() ? "#ff7ab8" : "#b3005e",
      inset,
      scale: ((width - inset - behind) / longest) * zoom,
      left: scroller.scrollLeft,
      top: scroller.scrollTop,
      shown: rows.length > 0 ? new Set(rows.flatMap((row) => pathOf(tree, row))) : undefined,
      parting:
        rows.length === 2 && choices.along === "tokens"
          ? sharedTokens(tree, rows[0]!, rows[1]!)
          : undefined,
    };
  }
  function draw(): void {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const view = scene();
      const ratio = devicePixelRatio || 1;
      const [wide, high] = [view.width * ratio, view.height * ratio].map(Math.floor);
      // Setting a size clears and allocates, also where it stays the same.
      if (canvas.width !== wide) canvas.width = wide!;
      if (canvas.height !== high) canvas.height = high!;
      canvas.style.width = `${view.width}px`;
      canvas.style.height = `${view.height}px`;
      spacer.style.width = `${inset + behind + longest * view.scale}px`;
      spacer.style.height = `${Math.max(tree.rows.length * lane, view.height)}px`;
      const context = canvas.getContext("2d");
      if (!context) return;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawTree(context, view);
      drawRuler(ruler, view, choices.along);
      if (selected < 1) performance.mark("arpo-explorer");
    });
  }
  function select(node: number): void {
    selected = node;
    details.replaceChildren(nodeDetails(tree, node, colouring, replay, actions.token));
    actions.node(node);
    draw();
  }
  function showPaths(): void {
    const rows = paths();
    const parts = rows.map((row) => {
      const tokens = rowTokens(tree, pathOf(tree, row));
      const from = rows.length === 2 ? Math.max(0, sharedTokens(tree, rows[0]!, rows[1]!) - 20) : 0;
      const { reason } = tree.rows[row]!;
      return element(
        "div",
        {},
        element("h4", {}, `row ${row}${from > 0 ? `, from token ${from} on` : ""}`),
        reason == null ? undefined : element("p", {}, reason),
        heatText(tree, colouring, tokens.slice(from), `row ${row}`),
      );
    });
    const [a, b] = rows;
    const same = a !== undefined && b !== undefined ? sharedTokens(tree, a, b) : 0;
    const words =
      b === undefined
        ? ""
        : same === rowTokens(tree, pathOf(tree, a!)).length &&
            same === rowTokens(tree, pathOf(tree, b)).length
          ? `Rows ${a} and ${b} have the same tokens.`
          : `Rows ${a} and ${b} share ${same} tokens; the dashed line is where they part.`;
    trail.replaceChildren(
      element("p", {}, words),
      element("div", { class: "arpo-columns" }, ...parts),
    );
  }
  function changed(): void {
    replay = followPlan(tree.plan, choices.changes);
    colouring = colouringOf(tree, choices.quantity, ramps());
    strips.clear();
    spans = spansOf(tree, choices.along);
    longest = spans.reduce((most, { to }) => Math.max(most, to), 1);
    count.textContent = replayWords(replay);
    count.dataset["branches"] = String(replay.branches);
    const show = (x: number) => String(Number(x.toPrecision(3)));
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) =>
      colouring.colour(colouring.low + t * (colouring.high - colouring.low)),
    );
    const key = (look: string, name: string) =>
      element("span", {}, element("i", { class: "arpo-key", style: look }), name);
    const ring = "border:1.5px solid currentColor;border-radius:50%;width:9px;height:9px;";
    const ramp = `background:linear-gradient(90deg,${stops.join(",")})`;
    legend.replaceChildren(
      element(
        "span",
        {},
        `${choices.quantity} ${show(colouring.low)} `,
        element("i", { class: "arpo-ramp", style: ramp }),
        ` ${show(colouring.high)}${choices.quantity === "entropy" ? " nats" : ""}`,
      ),
      key("background:#5f9e8f;height:7px", "a tool answered"),
      key(`${ring}background:var(--hot)`, "branches"),
      key(ring, "does not branch"),
      key(`${ring}outline:1.5px solid var(--hot);outline-offset:1px`, "otherwise than it did"),
      scored ? element("span", {}, "behind a row: its score") : "",
    );
    if (selected >= 0)
      details.replaceChildren(nodeDetails(tree, selected, colouring, replay, actions.token));
    if (paths().length > 0) showPaths();
    else trail.replaceChildren();
    draw();
  }

  const rowOf = (node: number) => Math.max(0, tree.nodes[node]!.row);
  function nearest(row: number, depth: number): number {
    let best = -1;
    let distance = Infinity;
    spans.forEach(({ from, to }, i) => {
      if (rowOf(i) !== row) return;
      const away = Math.max(from - depth, depth - to, 0);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect();
    const view = scene();
    const row = Math.floor((event.clientY - box.top + view.top) / lane);
    const depth = (event.clientX - box.left + view.left - inset) / view.scale;
    const node = row < tree.rows.length ? nearest(row, depth) : -1;
    if (node >= 0) select(node);
  };
  function zoomTo(next: number): void {
    zoom = Math.min(Math.max(1, next), Math.max(1, longest / 8));
    draw();
  }
  canvas.onkeydown = (event) => {
    const node = tree.nodes[Math.max(0, selected)]!;
    const current = Math.max(0, selected);
    const target: Record<string, () => number> = {
      ArrowLeft: () => Math.max(0, node.parent),
      ArrowRight: () =>
        tree.nodes.findIndex((n, i) => n.parent === current && rowOf(i) === rowOf(current)),
      ArrowUp: () => nearest(rowOf(current) - 1, spans[current]!.from),
      ArrowDown: () => nearest(rowOf(current) + 1, spans[current]!.from),
    };
    const zooms: Record<string, number> = { "+": zoom * 1.5, "=": zoom * 1.5, "-": zoom / 1.5 };
    const move = target[event.key];
    const scale = zooms[event.key];
    if (!move && scale === undefined) return;
    event.preventDefault();
    if (scale !== undefined) return zoomTo(scale);
    const next = selected < 0 ? 0 : move!();
    if (next < 0) return;
    select(next);
    const { top } = scroller.getBoundingClientRect();
    const y = rowOf(next) * lane;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    if (y > scroller.scrollTop + height - 2 * lane && top !== undefined) {
      scroller.scrollTop = y - height + 2 * lane;
    }
  };
  scroller.onscroll = draw;
  const buttons = [
    ["zoom in", 1.5],
    ["zoom out", 1 / 1.5],
  ].map(([label, factor]) => {
    const button = element("button", {}, String(label));
    button.onclick = () => zoomTo(zoom * Number(factor));
    return button;
  });
  root.querySelector("[data-picture]")?.remove();
  scroller.style.height = `${height}px`;
  root.append(
    element("div", { class: "arpo-title" }, element("b", {}, tree.title), " ", ...buttons),
    element("details", {}, element("summary", {}, "prompt"), element("pre", {}, tree.prompt)),
    makeControls(tree, choices, changed),
    count,
    scroller,
    ruler,
    legend,
    trail,
    details,
    actions.box,
  );
  new ResizeObserver(draw).observe(scroller);
  changed();
  if (tree.nodes.length > 0) select(0);
}
