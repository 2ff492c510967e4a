import { defined } from "../../../../common/options/defined.js";
import { addressOf } from "../../page/address.js";
import { element } from "../../page/element.js";
import { followLinks } from "../../page/pointed.js";
import { coloursOf, type PageColours } from "../../page/page-colours.js";
import type { LiveTree, TreeReply } from "../payload.js";
import { followKeys } from "./controls/keyboard.js";
import { tellLegend } from "./controls/legend.js";
import { makePlayback } from "./controls/playback.js";
import { policySlider } from "./controls/policy-slider.js";
import { followPointer } from "./controls/pointer.js";
import { makeToolbar } from "./controls/toolbar.js";
import { trajectoryTable } from "./controls/trajectory-table.js";
import { canvasPainter } from "../../draw/canvas-painter.js";
import { drawTree } from "./draw/draw-tree.js";
import { measureOf, quantitiesOf } from "./draw/measures.js";
import { HeatLayer } from "./draw/heat-layer.js";
import { Minimap } from "./draw/minimap.js";
import { BinCache, type Scene } from "./draw/scene.js";
import { themeOf } from "../../draw/theme.js";
import { passes, type Lane } from "./layout/lane-order.js";
import { layOut, type Layout } from "./layout/layout.js";
import type { Channel } from "../../page/ask-kernel.js";
import { followTheme } from "./follow-theme.js";
import { makeActions } from "./panel/actions.js";
import { makePanel } from "./panel/panel.js";
import { cardsBox } from "./panel/word-cards.js";
import { questionOf, summaryOf } from "./tree/header-words.js";
import { ownSettings, replayOf } from "./tree/shown-replay.js";
import { spokenNode } from "./tree/spoken-node.js";
import type { PageTree } from "./tree/unpack-tree.js";
import { readPolicies } from "./tree/policy-steps.js";
import { factsOf } from "./tree/tree-facts.js";
import { wordCards } from "./tree/word-cards.js";
import { many } from "../../page/words.js";
import type { ExplorerState, ExplorerView } from "./view.js";

/** What an explorer is made of besides its tree. */
interface ExplorerParts {
  /** The view's element; the explorer becomes its child. */
  outer: HTMLElement;
  colours: PageColours;
  live: LiveTree | undefined;
  /** Pixels that the lanes take at most (default 590). */
  maxHeight?: number;
  forked: (reply: Exclude<TreeReply, { error: string }>, channel: Channel<TreeReply>) => void;
}

/** Makes an explorer of a tree and shows it. */
export function makeExplorer(tree: PageTree, parts: ExplorerParts): ExplorerView {
  const { outer, colours, maxHeight = 590 } = parts;
  const facts = factsOf(tree);
  const state: ExplorerState = {
    ...{ quantity: quantitiesOf(tree)[0]!, scale: "sqrt", align: "turns", lanes: "auto" },
    ...{ filter: "all", zoom: 1, unfolded: new Set<number>(), whatIf: ownSettings(tree) },
    ...{ selected: -1, token: -1, trajectory: -1, compared: -1 },
    ...{ hovered: -1, hoveredMark: -1, focusedMark: -1, pill: undefined },
    ...{ tab: "segment", isOpen: true, policy: 0, policyTo: 0 },
  };
  const cards = wordCards(facts);
  const steps = tree.policies?.steps ?? [];
  const policies = tree.policies && readPolicies(facts, cards, tree.policies, steps.length);
  // The words above the bars stay those of the rollout.
  if (policies) tree.nodes.forEach((_, i) => facts.peaks(i));
  const canvas = element("canvas", { "aria-hidden": "true" });
  const spacer = element("div", { class: "ax-spacer" }, canvas);
  const scroller = element(
    "div",
    { class: "ax-scroll", tabindex: "0", role: "application" },
    spacer,
  );
  scroller.setAttribute("aria-roledescription", "rollout tree");
  scroller.setAttribute(
    "aria-label",
    `Rollout tree: ${many(tree.trajectories.length, "trajectory", "trajectories")}, ${many(facts.branches, "branch", "branches")}. Arrow keys move between segments and trajectories, B goes to the next branch point, the question mark lists all keys.`,
  );
  const minimap = new Minimap(element("canvas", { class: "ax-minimap", "aria-hidden": "true" }));
  const spoken = element("div", { class: "ax-spoken", "aria-live": "polite" });
  const below = element("p", { class: "ax-summary" });
  const legend = element("div", { class: "ax-legend" });
  const main = element("div", { class: "ax-main" });
  const root = element("div", { class: "ax", "data-theme": "light" });

  const heights = new Map<string, number>();
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let asked = false;
  let isShown = false;
  let passed: Set<number> | undefined;
  let bins: BinCache;
  const heat = new HeatLayer();
  /** Frames in which a lane moved. */
  let moves = 0;
  /** The layout that the minimap shows: zooming does not change it. */
  let outline: Layout | undefined;
  let told: unknown[] = [];

  const address = addressOf(outer);
  coloursOf(outer, colours);
  root.dataset["theme"] = outer.dataset["theme"];
  outer.append(root);

  const view = {
    ...{ root, scroller, facts, state, colours, address, moment: undefined },
    replay: replayOf(tree, state.whatIf),
    measure: measureOf(tree, state.quantity, state.scale, policies?.all),
    logRatios: policies?.logRatiosAt(0),
    theme: themeOf(root),
    layout: undefined as unknown as Layout,
    draw,
    update,
    select,
    openTab,
    zoom,
    reveal,
    scene,
    summary: () => summaryOf(facts, view.replay),
    policyBy: (count: number) => slider?.by(count),
    policyAt: (step: number) => slider?.go(steps.findLastIndex((one) => one <= step)),
    unfold: (node: number) => {
      if (!state.unfolded.delete(node)) state.unfolded.add(node);
      relayout();
    },
    compareWith: (trajectory: number) => {
      state.compared = state.compared === trajectory ? -1 : trajectory;
      if (state.selected < 0 && state.compared >= 0)
        view.say(`Compare with trajectory ${trajectory}: select another`);
      panel.tell();
      draw();
    },
    say: (text: string, isVisible = false) => {
      spoken.textContent = text;
      if (!isVisible) return;
      const note = element("div", { class: "ax-toast" }, text);
      root.append(note);
      setTimeout(() => note.remove(), 1800);
    },
  } as { -readonly [K in keyof ExplorerView]: ExplorerView[K] };
  bins = new BinCache(facts, view.measure);

  const actions = makeActions(tree, parts.live, parts.forked);
  const playback = makePlayback(view);
  const panel = makePanel(view, outer.id, actions.box);
  const tip = followPointer(view, minimap.canvas);
  followKeys(view, playback);

  function relayout(isZoom = false): void {
    view.layout = layOut(facts, {
      ...{ width: scroller.clientWidth || 800, maxHeight, replay: view.replay },
      ...{ filter: state.filter, align: state.align, lanes: state.lanes, zoom: state.zoom },
      ...{ unfolded: state.unfolded, hasRatios: policies !== undefined },
    });
    const { layout } = view;
    if (!isZoom || !outline) outline = layout;
    passed =
      state.filter === "all"
        ? undefined
        : new Set(
            facts.paths.flatMap((path, i) => (passes(state.filter, facts.verdicts[i]) ? path : [])),
          );
    for (const lane of layout.lanes) {
      // A new branch comes out of its parent.
      const from =
        lane.ghost && layout.laneAt.get(Math.max(0, tree.nodes[lane.ghost.node]!.trajectory));
      if (!heights.has(lane.key)) heights.set(lane.key, from && !isStill ? from.y : lane.y);
    }
    const isWide = layout.totalWidth > layout.plotWidth + 1;
    scroller.style.height = `${layout.viewHeight + (isWide ? 14 : 0)}px`;
    spacer.style.height = `${layout.totalHeight}px`;
    const wide = layout.left + layout.totalWidth + layout.gutter;
    spacer.style.width = isWide ? `${wide}px` : "100%";
    minimap.canvas.hidden = layout.totalHeight <= layout.viewHeight + 2;
    const tells = [view.measure, view.theme, view.replay, layout.isPhone];
    if (tells.some((each, i) => each !== told[i])) tellLegend(view, legend);
    told = tells;
    draw();
  }
  /** Under a policy, or between two: the numbers of the tree's tokens become that policy's. */
  function showPolicy(place: number): void {
    if (!policies) return;
    state.policy = place;
    tree.entropies = policies.entropiesAt(place);
    tree.surprises = policies.surprisesAt(place);
    view.logRatios = policies.logRatiosAt(place);
    wordBox.tell((card, word) => policies.chance(card, word, place));
    bins = new BinCache(facts, view.measure);
    if (place !== state.policyTo) return draw();
    slider!.tell();
    address.write(stateNow());
    update();
  }
  const stateNow = () => ({
    ...{ t: state.trajectory, node: state.selected, token: state.token },
    policy: state.policyTo === 0 ? -1 : state.policyTo,
  });
  function update(): void {
    view.replay = replayOf(tree, state.whatIf, tree.policies?.decided[state.policyTo]);
    if (view.measure !== (view.measure = sameMeasure())) bins = new BinCache(facts, view.measure);
    below.textContent = view.summary();
    toolbar.tell();
    relayout();
    panel.tell();
  }
  let measured = [state.quantity, state.scale].join();
  function sameMeasure() {
    const now = [state.quantity, state.scale].join();
    if (now === measured) return view.measure;
    measured = now;
    return measureOf(tree, state.quantity, state.scale, policies?.all);
  }
  function yOf(lane: Lane): number {
    return heights.get(lane.key) ?? lane.y;
  }
  function scene(isWhole: boolean): Scene {
    const { layout } = view;
    const path = state.hovered >= 0 ? state.hovered : state.trajectory;
    const seen = isWhole
      ? {
          x: 0,
          y: 0,
          width: layout.left + layout.totalWidth + layout.gutter,
          height: layout.totalHeight,
        }
      : {
          ...{ x: scroller.scrollLeft, y: scroller.scrollTop },
          ...{ width: scroller.clientWidth || layout.width, height: layout.viewHeight },
        };
    const looked = isWhole
      ? { selected: -1, token: -1, path: -1, compared: -1, hoveredMark: -1, focusedMark: -1 }
      : {
          ...{ selected: state.selected, token: state.token, path, compared: state.compared },
          ...{ hoveredMark: state.hoveredMark, focusedMark: state.focusedMark },
        };
    return {
      ...{
        facts,
        layout,
        bins,
        heat: isWhole ? undefined : heat,
        passed,
        unfolded: state.unfolded,
        view: seen,
        ...looked,
      },
      ...{ measure: view.measure, theme: view.theme, replay: view.replay },
      ...defined({ logRatios: view.logRatios }),
      ...{ pill: isWhole ? undefined : state.pill, moment: isWhole ? undefined : view.moment },
      yOf: isWhole ? (lane) => lane.y : yOf,
    };
  }
  function draw(): void {
    if (asked) return;
    asked = true;
    requestAnimationFrame(paint);
  }
  /** Lanes move to where they belong, a part of the way with every frame. */
  function move(): boolean {
    let isMoving = false;
    for (const { key, y } of view.layout.lanes) {
      const now = heights.get(key)!;
      if (now === y) continue;
      moves++;
      const isThere = isStill || Math.abs(now - y) <= 0.4;
      heights.set(key, isThere ? y : now + (y - now) * 0.28);
      isMoving ||= !isThere;
    }
    return isMoving;
  }
  function paint(): void {
    asked = false;
    const isMoving = move();
    const now = scene(false);
    const ratio = devicePixelRatio || 1;
    const { width, height } = now.view;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    // Setting a size clears and allocates, also where it stays the same.
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    // What playback shows changes with every frame.
    const { layout, theme, moment } = now;
    const at = [now.view.x, now.view.y, wide, high, ratio];
    heat.dependOn([layout, bins, theme, passed, moves, moment && {}, ...at]);
    drawTree(canvasPainter(context), now);
    if (!minimap.canvas.hidden) minimap.draw(now, outline ?? layout);
    if (!isShown) performance.mark("arpo-explorer");
    isShown = true;
    if (isMoving) draw();
  }
  function select(node: number, token = -1, trajectory?: number): void {
    state.selected = node;
    state.token = token;
    state.trajectory = node < 0 ? -1 : (trajectory ?? Math.max(0, tree.nodes[node]!.trajectory));
    state.focusedMark = -1;
    state.pill = undefined;
    if (node >= 0) {
      // A selection is told in its own tab; What if? stays open.
      if (state.tab === "keys") state.tab = "segment";
      // It reads where the tree is scrolled to: before anything is written to the page.
      reveal(node);
      actions.at(node, token);
      view.say(spokenNode(facts, { node, token, trajectory: state.trajectory }));
    }
    address.write(stateNow());
    panel.tell();
    draw();
  }
  function reveal(node: number): void {
    const { layout } = view;
    const lane = layout.laneAt.get(Math.max(0, tree.nodes[node]!.trajectory));
    if (!lane) return;
    const [y, room] = [lane.y - layout.head, layout.viewHeight - layout.head];
    if (y < scroller.scrollTop + 4) scroller.scrollTop = y - lane.height;
    else if (y + lane.height > scroller.scrollTop + room) {
      scroller.scrollTop = y + 2 * lane.height - room;
    }
    const [from, to] = [layout.x0[node]!, layout.x1[node]!];
    if (from < scroller.scrollLeft) scroller.scrollLeft = from - 20;
    else if (to > scroller.scrollLeft + layout.plotWidth) {
      scroller.scrollLeft = Math.min(from - 20, to - layout.plotWidth + 20);
    }
  }
  function openTab(tab: ExplorerState["tab"] | undefined): void {
    state.isOpen = tab !== undefined;
    if (tab !== undefined) state.tab = tab;
    main.classList.toggle("ax-closed", !state.isOpen);
    toolbar.tell();
    panel.tell();
    relayout();
  }
  /** What is selected, where it is in view; the middle of what is. */
  function middleOf(layout: Layout): number {
    const { selected, token } = state;
    if (selected < 0) return layout.plotWidth / 2;
    const [from, to] = [layout.x0[selected]!, layout.x1[selected]!];
    const share = token < 0 ? 0 : (token + 0.5) / Math.max(1, tree.nodes[selected]!.length);
    const x = from + (to - from) * share - scroller.scrollLeft;
    return x >= 0 && x <= layout.plotWidth ? x : layout.plotWidth / 2;
  }
  function zoom(factor: number, clientX?: number): void {
    const { layout } = view;
    const at =
      clientX === undefined
        ? middleOf(layout)
        : clientX - scroller.getBoundingClientRect().left - layout.left;
    const place = (scroller.scrollLeft + at) / layout.totalWidth;
    const most = Math.max(1, (60 / layout.tokenWidth) * state.zoom);
    state.zoom = factor === 0 ? 1 : Math.max(1, Math.min(most, state.zoom * factor));
    relayout(true);
    scroller.scrollLeft = place * view.layout.totalWidth - at;
    draw();
  }
  function recolour(): void {
    coloursOf(outer, colours);
    if (root.dataset["theme"] === outer.dataset["theme"]) return;
    root.dataset["theme"] = outer.dataset["theme"];
    view.theme = themeOf(root);
    tellLegend(view, legend);
    panel.tell();
    draw();
  }

  const toolbar = makeToolbar(view, playback);
  const wordBox = cardsBox(facts);
  const slider = tree.policies && policySlider(view, tree.policies, showPolicy);
  const question = questionOf(tree.prompt);
  main.append(
    element(
      "div",
      { class: "ax-stage" },
      element("div", { class: "ax-plot" }, scroller, minimap.canvas),
      playback.box,
      legend,
      wordBox.box,
    ),
    panel.box,
  );
  root.append(
    element(
      "div",
      { class: "arpo-title ax-title" },
      element("b", { class: "ax-question" }, question || tree.title),
      below,
    ),
    toolbar.bar,
    ...(slider ? [slider.box] : []),
    main,
    trajectoryTable(facts, (trajectory) => {
      const first = facts.own[trajectory]![0] ?? facts.paths[trajectory]!.at(-1);
      if (first !== undefined) view.select(first, -1, trajectory);
      scroller.focus();
    }),
    element(
      "details",
      { class: "ax-prompt" },
      element("summary", {}, "Prompt"),
      element("pre", {}, tree.prompt),
    ),
    tip,
    spoken,
  );
  update();
  slider?.tell();
  new ResizeObserver(() => relayout()).observe(scroller);
  followTheme(root, recolour);
  const said = {
    ...{ t: tree.trajectories.length, node: tree.nodes.length, token: Infinity },
    policy: steps.length,
  };
  const goTo = ({ t, node, token = -1, policy }: Partial<typeof said>, isLane = false) => {
    const isOwn = isLane && t !== undefined;
    const own = isOwn ? (facts.own[t]![0] ?? facts.paths[t]!.at(-1)) : undefined;
    const chosen = node ?? own;
    if (policy !== undefined) slider?.go(policy);
    if (chosen !== undefined) select(chosen, token < tree.nodes[chosen]!.length ? token : -1, t);
  };
  goTo(address.read(said));
  // A sentence may mean a whole trajectory.
  followLinks(outer, "explorer", said, (values) => goTo(values, true));
  return view;
}
