import { makeExplorer } from "../../../src/view/explorer/page/explorer-view.js";
import { markX } from "../../../src/view/explorer/page/layout/layout.js";
import { ownSettings } from "../../../src/view/explorer/page/tree/shown-replay.js";
import { unpackTree } from "../../../src/view/explorer/page/tree/unpack-tree.js";
import { many } from "../../../src/view/page/words.js";
import type { ExplorerView } from "../../../src/view/explorer/page/view.js";
import type { ExplorerPayload } from "../../../src/view/explorer/payload.js";
import { element } from "../../../src/view/page/element.js";
import { palettes } from "../../../common/picture/palette.js";
import { tourSteps, type TourPlace } from "./tour.js";

const the = (id: string): HTMLElement => document.getElementById(id)!;

/** The slider of the last step; `reset` goes back to the rollout's own settings. */
function whatIf(view: ExplorerView, box: HTMLElement): { reset: () => void } {
  const { tree } = view.facts;
  const own = tree.plan.settings.probability;
  const input = element("input", {
    ...{ type: "range", min: "0", max: "1", step: "0.01", class: "slider", id: "probability" },
  });
  const told = element("output", { for: "probability" });
  const said = element("p", { class: "said", role: "status" });
  const tell = (): void => {
    told.textContent = Number(input.value).toFixed(2);
    input.style.setProperty("--p", `${100 * Number(input.value)}%`);
    const { changed, missing, ghosts, replay } = view.replay;
    said.replaceChildren(
      element("b", {}, String(replay.branches)),
      changed
        ? ` ${replay.branches === 1 ? "branch" : "branches"}; the rollout made ${replay.before}. ${missing.size} removed, ${ghosts.length} new.`
        : ` ${replay.branches === 1 ? "branch" : "branches"}, as in the rollout`,
    );
  };
  const move = (value: number): void => {
    view.state.whatIf = { ...ownSettings(tree), changes: { probability: value } };
    view.update();
    tell();
  };
  input.oninput = () => move(Number(input.value));
  box.append(
    element(
      "label",
      { class: "field", for: "probability" },
      element("span", {}, "Branch probability"),
      told,
    ),
    input,
    said,
  );
  const reset = (): void => {
    input.value = String(own);
    move(own);
  };
  reset();
  return { reset };
}

/** Points at a place of the tree with a label. */
function pointer(view: ExplorerView): (place?: TourPlace, label?: string) => void {
  const callout = element("div", { class: "callout", "aria-hidden": "true", hidden: "" });
  const plot = view.scroller.parentElement!;
  plot.append(callout);
  let shown: [TourPlace, string] | undefined;
  const put = (): void => {
    callout.hidden = shown === undefined;
    if (shown === undefined) return;
    const [{ trajectory, node, at }, label] = shown;
    const { layout, facts, scroller } = view;
    const owner = at === "score" ? trajectory : Math.max(0, facts.tree.nodes[node]!.trajectory);
    const lane = layout.laneAt.get(owner)!;
    const [from, to] = [layout.x0[node]!, layout.x1[node]!];
    const along =
      typeof at === "object"
        ? from + ((to - from) * (at.token + 0.5)) / facts.tree.nodes[node]!.length
        : at === "mark"
          ? markX(layout, facts, node)
          : (from + to) / 2;
    const x =
      at === "score" ? layout.width - layout.gutter / 3 : layout.left + along - scroller.scrollLeft;
    const y = lane.y - scroller.scrollTop;
    callout.textContent = label;
    const half = callout.offsetWidth / 2;
    const left = Math.min(Math.max(x, half + 4), scroller.clientWidth - half - 4);
    const isBelow = y < layout.head + 40;
    callout.classList.toggle("below", isBelow);
    callout.style.left = `${left}px`;
    callout.style.top = `${isBelow ? y + lane.height + 8 : y - 8}px`;
    callout.style.setProperty("--tail", `${x - left}px`);
  };
  // After the explorer has laid itself out for its new size.
  new ResizeObserver(() => requestAnimationFrame(put)).observe(view.scroller);
  view.scroller.addEventListener("scroll", put);
  return (place, label = "") => {
    shown = place && [place, label];
    put();
  };
}

/** Starts the tour; gives what takes its label away. */
function startTour(view: ExplorerView): () => void {
  const steps = tourSteps(view.facts, view.replay);
  const [say, drag, dots] = [the("say"), the("drag"), the("dots")];
  const [back, next] = [the("back") as HTMLButtonElement, the("next") as HTMLButtonElement];
  const { reset } = whatIf(view, drag);
  const point = pointer(view);
  const { state } = view;
  let step = 0;
  const go = (to: number): void => {
    step = to;
    const { title, text, place } = steps[to]!;
    say.replaceChildren(element("b", {}, title), ` ${text}`);
    drag.hidden = place !== undefined;
    if (view.replay.changed) reset();
    state.selected = place?.node ?? -1;
    state.token = place && typeof place.at === "object" ? place.at.token : -1;
    state.trajectory = place?.trajectory ?? -1;
    state.focusedMark = place?.at === "mark" ? place.node : -1;
    if (place) view.reveal(place.node);
    point(place, title.replace(/\.$/, "").replace("its advantage is ", ""));
    view.draw();
    [...dots.children].forEach((dot, i) => {
      if (i === to) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    back.disabled = to === 0;
    next.textContent = to === steps.length - 1 ? "Again" : "Next";
  };
  dots.append(
    ...steps.map((_, i) => {
      const dot = element("button", {
        ...{ type: "button", "aria-label": `Step ${i + 1} of ${steps.length}` },
      });
      dot.onclick = () => go(i);
      return dot;
    }),
  );
  next.onclick = () => go((step + 1) % steps.length);
  back.onclick = () => go(Math.max(0, step - 1));
  // Whoever looks around alone is not pointed at things.
  view.scroller.addEventListener("pointerdown", () => point());
  go(0);
  return point;
}

/** All of the explorer instead of the tree alone. */
function play(view: ExplorerView): void {
  const demo = the("demo");
  demo.classList.add("playing");
  view.openTab("whatif");
  demo.scrollIntoView({ block: "start" });
  view.scroller.focus({ preventScroll: true });
}

function copyCommand(button: HTMLButtonElement): void {
  const said = button.querySelector("small")!;
  button.onclick = () => {
    void navigator.clipboard.writeText(button.dataset["copy"]!).then(
      () => (said.textContent = "copied"),
      () => (said.textContent = "select and copy it"),
    );
    getSelection()?.selectAllChildren(button.querySelector("code")!);
  };
}

/** Once the page has nothing to do: the lab then opens isolated at once, without a second load. */
function registerServiceWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const register = (): void =>
    void navigator.serviceWorker.register("service-worker.js").catch(() => undefined); // the lab says so itself
  const { requestIdleCallback: idle = (then: () => void) => setTimeout(then, 500) } =
    globalThis as { requestIdleCallback?: (then: () => void) => void };
  addEventListener("load", () => idle(register));
}

function start(): void {
  const outer = the("tree");
  const payload = JSON.parse(the("tree-data").textContent ?? "") as ExplorerPayload;
  const isPhone = innerWidth < 821;
  const view = makeExplorer(unpackTree(payload), {
    ...{ outer, live: undefined, forked: () => undefined },
    colours: { light: palettes.auto, dark: palettes.dark },
    maxHeight: isPhone ? 338 : Math.max(400, Math.min(500, innerHeight - 400)),
  });
  view.openTab(undefined);
  the("counts").textContent = many(payload.trajectories.length, "trajectory", "trajectories");
  const leaveAlone = startTour(view);
  document.querySelector<HTMLButtonElement>("[data-play]")!.onclick = () => {
    leaveAlone();
    play(view);
  };
  document.querySelectorAll<HTMLButtonElement>("[data-copy]").forEach(copyCommand);
  document.body.dataset["ready"] = "";
  performance.mark("interactive");
}

registerServiceWorker();
start();
