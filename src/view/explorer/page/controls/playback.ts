import { element } from "../../../page/element.js";
import type { ExplorerView } from "../view.js";
import { icon } from "./icon.js";
import { playEvents, type EventKind, type PlayEvents } from "./play-events.js";

/** How this tree grew, event by event. */
export interface Playback {
  box: HTMLElement;
  isOn: () => boolean;
  /** Plays from the start, or pauses, or continues. */
  toggle: () => void;
  /** One event on, or back. */
  step: (by: number) => void;
  stop: () => void;
}

/** Milliseconds of each kind of event. */
const lasts: Record<EventKind, number> = {
  ...{ start: 1500, write: 3200, tool: 1900, branch: 1500, no: 1000, score: 2600, advantage: 3000 },
};
const lastsStill = 2200;

/** The playback, below the tree while it is on. */
export function makePlayback(view: ExplorerView): Playback {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const caption = element("p", { class: "ax-caption", "aria-live": "polite" });
  const range = element("input", {
    ...{ type: "range", class: "ax-slider", min: "0", step: "1", "aria-label": "Event" },
  });
  const ticks = element("div", { class: "ax-ticks", "aria-hidden": "true" });
  const count = element("span", { class: "ax-number ax-muted" });
  const run = element("button", { class: "ax-button ax-square ax-primary", type: "button" });
  const button = (label: string, press: () => void, ...content: (Node | string)[]) => {
    const made = element("button", {
      class: "ax-button ax-square",
      type: "button",
      "aria-label": label,
    });
    made.append(...content);
    made.onclick = press;
    return made;
  };
  const done = element("button", { class: "ax-button ax-quiet", type: "button" }, "Done");
  done.onclick = stop;
  const box = element(
    "div",
    { class: "ax-play" },
    element(
      "div",
      { class: "ax-transport" },
      run,
      button("One event back", () => step(-1), icon("previous")),
      button("One event on", () => step(1), icon("next")),
      element("div", { class: "ax-range" }, ticks, range),
      count,
      done,
    ),
    caption,
  );
  box.hidden = true;
  let events: PlayEvents | undefined;
  let at = 0;
  let isPlaying = false;
  let frame = 0;
  let shown = -1;

  function prepare(): PlayEvents {
    if (events) return events;
    events = playEvents(view);
    range.max = String(events.list.length - 1);
    ticks.replaceChildren(
      ...events.list.map(({ kind }) => element("i", { class: `ax-tick-${kind}` })),
    );
    return events;
  }
  function go(to: number): void {
    const { list, ...moment } = prepare();
    at = Math.max(0, Math.min(list.length, to));
    const event = Math.min(list.length - 1, Math.floor(at - 1e-6 < 0 ? 0 : at - 1e-6));
    // The end of the last event is the whole tree.
    view.moment = at >= list.length ? undefined : { ...moment, at };
    if (event !== shown) {
      shown = event;
      const { say, node, pill } = list[event]!;
      range.value = String(event);
      range.style.setProperty("--p", `${(100 * event) / Math.max(1, list.length - 1)}%`);
      range.setAttribute("aria-valuetext", say);
      count.textContent = `${event + 1} / ${list.length}`;
      caption.textContent = say;
      [...ticks.children].forEach((tick, i) => tick.classList.toggle("ax-past", i <= event));
      view.state.focusedMark = pill === undefined ? -1 : node!;
      view.state.pill = pill;
      if (node !== undefined) view.reveal(node);
    }
    view.draw();
  }
  function tellRun(): void {
    run.replaceChildren(icon(isPlaying ? "pause" : "play"));
    run.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  }
  function pause(): void {
    isPlaying = false;
    cancelAnimationFrame(frame);
    tellRun();
  }
  function play(): void {
    isPlaying = true;
    tellRun();
    // The first frame's own time: a clock that is read before it may be ahead of it.
    let last: number | undefined;
    const next = (now: number) => {
      if (!isPlaying || !view.root.isConnected) return;
      const { list } = prepare();
      const { kind } = list[Math.min(list.length - 1, Math.floor(at))]!;
      const to = at + (now - (last ?? now)) / (isStill ? lastsStill : lasts[kind]);
      last = now;
      // Without motion an event is there at once.
      go(isStill ? Math.floor(to) + 0.999 : to);
      at = to;
      if (to >= list.length) {
        go(list.length);
        pause();
        return;
      }
      frame = requestAnimationFrame(next);
    };
    frame = requestAnimationFrame(next);
  }
  function open(): void {
    if (!box.hidden) return;
    box.hidden = false;
    shown = -1;
    view.select(-1);
  }
  function stop(): void {
    if (box.hidden) return;
    pause();
    box.hidden = true;
    view.moment = undefined;
    view.state.focusedMark = -1;
    view.state.pill = undefined;
    view.draw();
    view.scroller.focus();
  }
  function step(by: number): void {
    const isNew = box.hidden;
    const { list } = prepare();
    open();
    pause();
    const event = isNew ? (by > 0 ? -1 : list.length) : Math.max(0, shown);
    const to = Math.max(0, Math.min(list.length - 1, event + by));
    go(to === list.length - 1 ? list.length : to + 0.999);
  }
  function toggle(): void {
    if (box.hidden) {
      open();
      go(0);
      play();
    } else if (isPlaying) pause();
    else {
      if (at >= prepare().list.length) go(0);
      play();
    }
  }
  run.onclick = toggle;
  range.oninput = () => {
    pause();
    const event = Number(range.value);
    go(event === prepare().list.length - 1 ? event + 1 : event + 0.999);
  };
  tellRun();
  return { box, isOn: () => !box.hidden, toggle, step, stop };
}
