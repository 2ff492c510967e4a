import { element } from "../../page/element.js";
import { isDark } from "../../page/page-colours.js";
import { drawRuler } from "./draw-ruler.js";
import { drawTree, type Scene } from "./draw.js";
import { nodeBeside } from "./node-beside.js";
import { laneOf, nearestNode, pathOf, sharedTokens } from "./paths.js";
import type { ShownTree } from "./shown-tree.js";

/** Pixels per row, and before the prompt's rows for their numbers. */
const lane = 20;
const inset = 28;

/** The drawing of a tree. */
export interface TreeCanvas {
  /** The drawing, and the ruler below it. */
  scroller: HTMLElement;
  ruler: HTMLElement;
  /** Zoom in, and out. */
  buttons: HTMLElement[];
  /** Draws with the next frame. */
  draw: () => void;
  /** Forgets what was painted in other colours. */
  repaint: () => void;
}

/** A drawing of a tree on which nodes are chosen by pointer or arrow keys. */
export function makeCanvas(
  root: HTMLElement,
  shown: ShownTree,
  select: (node: number) => void,
): TreeCanvas {
  const { tree } = shown;
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  canvas.setAttribute(
    "aria-label",
    `Rollout tree: ${tree.title}. Arrow keys move from node to node, plus and minus zoom.`,
  );
  // As large as the whole drawing; the canvas stays in view inside it and draws only what is seen.
  const spacer = element("div", {}, canvas);
  const scroller = element("div", { class: "arpo-scroll" }, spacer);
  const ruler = element("div", { class: "arpo-ruler", "aria-hidden": "true" });
  // Scores stand behind their rows.
  const behind = shown.scored ? 44 : 10;
  const height = Math.min(420, Math.max(lane, tree.trajectories.length * lane)) + 16;
  scroller.style.height = `${height}px`;
  const strips = new Map<number, HTMLCanvasElement>();
  let zoom = 1;
  let asked = false;

  function scene(): Scene {
    const width = scroller.clientWidth || 720;
    const { followed: rows, colouring, replay, spans, selected } = shown;
    return {
      ...{ tree, colouring, replay, spans, strips, lane, selected, width, height: height - 16 },
      ink: getComputedStyle(root).color,
      accent: isDark(root) ? "#ff7ab8" : "#b3005e",
      inset,
      scale: ((width - inset - behind) / shown.longest) * zoom,
      left: scroller.scrollLeft,
      top: scroller.scrollTop,
      shown:
        rows.length > 0
          ? new Set(rows.flatMap((trajectory) => pathOf(tree, trajectory)))
          : undefined,
      parting:
        rows.length === 2 && shown.choices.along === "tokens"
          ? sharedTokens(tree, rows[0]!, rows[1]!)
          : undefined,
    };
  }
  function paint(): void {
    asked = false;
    const view = scene();
    const ratio = devicePixelRatio || 1;
    const wide = Math.floor(view.width * ratio);
    const high = Math.floor(view.height * ratio);
    // Setting a size clears and allocates, also where it stays the same.
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
    spacer.style.width = `${inset + behind + shown.longest * view.scale}px`;
    spacer.style.height = `${Math.max(tree.trajectories.length * lane, view.height)}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawTree(context, view);
    drawRuler(ruler, view, shown.choices.along);
    if (shown.selected < 1) performance.mark("arpo-explorer");
  }
  function draw(): void {
    if (asked) return;
    asked = true;
    requestAnimationFrame(paint);
  }
  function zoomBy(factor: number): void {
    zoom = Math.min(Math.max(1, zoom * factor), Math.max(1, shown.longest / 8));
    draw();
  }
  function bringIntoView(node: number): void {
    const y = laneOf(tree, node) * lane;
    const last = scroller.scrollTop + height - 2 * lane;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    if (y > last) scroller.scrollTop += y - last;
  }

  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect();
    const view = scene();
    const trajectory = Math.floor((event.clientY - box.top + view.top) / lane);
    const depth = (event.clientX - box.left + view.left - inset) / view.scale;
    const node =
      trajectory < tree.trajectories.length
        ? nearestNode(tree, shown.spans, trajectory, depth)
        : -1;
    if (node >= 0) select(node);
  };
  canvas.onkeydown = (event) => {
    const factor = { "+": 1.5, "=": 1.5, "-": 1 / 1.5 }[event.key];
    const next = nodeBeside(shown, event.key);
    if (factor === undefined && next === undefined) return;
    event.preventDefault();
    if (factor !== undefined) zoomBy(factor);
    else if (next! >= 0) {
      select(next!);
      bringIntoView(next!);
    }
  };
  scroller.onscroll = draw;
  new ResizeObserver(draw).observe(scroller);
  const button = (label: string, factor: number) => {
    const made = element("button", {}, label);
    made.onclick = () => zoomBy(factor);
    return made;
  };
  return {
    ...{ scroller, ruler, draw },
    buttons: [button("zoom in", 1.5), button("zoom out", 1 / 1.5)],
    repaint: () => {
      strips.clear();
      draw();
    },
  };
}
