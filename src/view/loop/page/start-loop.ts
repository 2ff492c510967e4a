import { canvasPainter } from "../../draw/canvas-painter.js";
import { svgPainter } from "../../draw/svg-painter.js";
import { themeOf, type Theme } from "../../draw/theme.js";
import { type Address, addressOf } from "../../page/address.js";
import { element } from "../../page/element.js";
import { coloursOf, type PageColours } from "../../page/page-colours.js";
import { followLinks } from "../../page/pointed.js";
import { starter } from "../../page/start-view.js";
import { many } from "../../page/words.js";
import { tellLegend } from "../../explorer/page/controls/legend.js";
import { drawTree } from "../../explorer/page/draw/draw-tree.js";
import { followTheme } from "../../explorer/page/follow-theme.js";
import { cardsBox } from "../../explorer/page/panel/word-cards.js";
import { questionOf } from "../../explorer/page/tree/header-words.js";
import type { LoopPayload } from "../payload.js";
import { drawFresh } from "./draw-fresh.js";
import { aboutWords, actWords } from "./loop-words.js";
import { acts, loopScene, showLoop, type ShownLoop } from "./shown-loop.js";

/** Milliseconds after which each act begins when the loop plays by itself, how long a tree grows, an update lasts. */
const begins = [0, 4200, 7400, 10600] as const;
const [growing, updating] = [2600, 260];
/** Pixels that the lanes take at most. */
const maxHeight = 430;
const curveHeight = 46;

/** A loop on the page: where it stands, and what moves it. */
class LoopPage {
  readonly loop: ShownLoop;
  readonly root = element("div", { class: "ax" });
  act = 1;
  at = 0;
  step = 0;
  readonly #canvas = element("canvas", { role: "img", tabindex: "0" });
  readonly #say = element("p", { class: "al-say", "aria-live": "polite" });
  readonly #acts = element("div", { class: "al-acts", role: "group", "aria-label": "Acts" });
  readonly #legend = element("div", { class: "ax-legend" });
  readonly #curve = element("div", { class: "al-curve-picture", "aria-hidden": "true" });
  readonly #range = element("input", { type: "range", class: "ax-slider", min: "0", step: "1" });
  readonly #big = element("div", { class: "al-big" });
  readonly #about = element("div", { class: "ax-muted" });
  readonly #run = element("button", { type: "button", class: "ax-button ax-primary" });
  readonly #cards: ReturnType<typeof cardsBox>;
  readonly #address: Address;
  readonly #isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  readonly #maxHeight: number;
  #theme: Theme;
  #asked = 0;
  #frame = 0;
  #isPlaying = false;
  #told = "";

  constructor(outer: HTMLElement, payload: LoopPayload, colours: PageColours, height = maxHeight) {
    this.loop = showLoop(payload);
    this.#maxHeight = height;
    const { facts } = this.loop;
    this.#cards = cardsBox(facts);
    this.#address = addressOf(outer);
    coloursOf(outer, colours);
    this.root.dataset["theme"] = outer.dataset["theme"];
    this.#acts.append(
      ...acts.map((name, i) => {
        const button = element("button", { type: "button" }, element("b", {}, `${i + 1}`), name);
        button.onclick = () => this.go(i + 1);
        return button;
      }),
    );
    this.#range.max = String(payload.updates);
    this.#range.setAttribute("aria-label", "Updates");
    this.#range.oninput = () => this.train(Number(this.#range.value));
    this.#run.onclick = () => (this.#isPlaying ? this.pause() : this.play(3));
    this.root.append(
      element(
        "div",
        { class: "arpo-title ax-title" },
        element("b", { class: "ax-question" }, questionOf(facts.tree.prompt) || facts.tree.title),
        element("p", { class: "al-about" }, aboutWords(this.loop)),
      ),
      this.#acts,
      this.#say,
      element("div", { class: "al-tree" }, this.#canvas),
      this.#legend,
      this.#cards.box,
      element(
        "div",
        { class: "al-train" },
        this.#run,
        element("div", { class: "al-curve" }, this.#curve, this.#range),
        element("div", {}, this.#big, this.#about),
      ),
      element("p", { class: "al-note" }, payload.note),
    );
    outer.append(this.root);
    this.#theme = themeOf(this.root);
    this.root.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe(this.#canvas.parentElement!);
    followTheme(this.root, () => {
      coloursOf(outer, colours);
      this.root.dataset["theme"] = outer.dataset["theme"];
      this.#theme = themeOf(this.root);
      this.#told = "";
      this.draw();
    });
    const said = { act: acts.length + 1, step: payload.updates + 1 };
    followLinks(outer, "loop", said, ({ act, step }) => {
      if (step !== undefined) this.train(step);
      else if (act !== undefined && act > 0) this.go(act);
    });
    const { act, step } = this.#address.read(said);
    if (step !== undefined) this.train(step);
    else if (act !== undefined && act > 0) this.go(act);
    else if (this.#isStill) this.train(payload.updates);
    else this.#playOnceSeen();
  }

  /** An act as it ends; the last one before its first update. */
  go(act: number): void {
    this.pause();
    this.act = act;
    this.at = this.loop.ends[Math.min(act, 3) - 1]!;
    this.step = 0;
    this.#address.write({ act });
    this.draw();
  }

  /** The last act after some updates. */
  train(step: number): void {
    this.pause();
    [this.act, this.at, this.step] = [4, this.loop.ends[2], step];
    this.#address.write({ step });
    this.draw();
  }

  pause(): void {
    this.#isPlaying = false;
    cancelAnimationFrame(this.#frame);
    this.draw();
  }

  /** Plays on from an act: 0 is all of it. */
  play(from: number): void {
    const { updates } = this.loop.payload;
    this.#isPlaying = true;
    const start = from === 3 && this.step < updates && this.act === 4 ? this.step : 0;
    // The first frame's own time: a clock that is read before it may be ahead of it.
    let first: number | undefined;
    const next = (now: number) => {
      if (!this.#isPlaying || !this.root.isConnected) return;
      first ??= now;
      const time = now - first + begins[from]! + start * updating;
      this.#show(time);
      if (this.step >= updates && this.act === 4) {
        this.pause();
        return;
      }
      this.#frame = requestAnimationFrame(next);
    };
    this.#frame = requestAnimationFrame(next);
  }

  /** The loop at a time of its playing. */
  #show(time: number): void {
    const { ends, payload } = this.loop;
    this.act = begins.filter((begin) => time >= begin).length;
    const inAct = time - begins[this.act - 1]!;
    const grown = Math.min(1, inAct / growing);
    if (this.act === 1) this.at = grown * ends[0];
    else if (this.act === 2) this.at = ends[0] + 0.02 + grown * (ends[1] - ends[0] - 0.02);
    else this.at = ends[2];
    const moved = Math.min(payload.updates, Math.max(0, inAct / updating));
    this.step = this.act < 4 ? 0 : this.#isStill ? Math.floor(moved) : moved;
    this.draw();
  }

  /** Begins by itself once, when most of the tree is in view. */
  #playOnceSeen(): void {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        observer.disconnect();
        if (this.at === 0 && !this.#isPlaying) this.play(0);
      },
      { threshold: 0.2 },
    );
    observer.observe(this.#canvas);
    this.draw();
  }

  #key(event: KeyboardEvent): void {
    if ((event.target as HTMLElement).matches("input") || event.ctrlKey || event.metaKey) return;
    const act = Number(event.key);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const { updates } = this.loop.payload;
    if (acts[act - 1] !== undefined) this.go(act);
    else if (by !== undefined && this.act === 4)
      this.train(Math.max(0, Math.min(updates, Math.round(this.step) + by)));
    else if (by !== undefined) this.go(Math.max(1, this.act + by));
    else return;
    event.preventDefault();
  }

  /** Draws with the next frame. */
  draw(): void {
    if (this.#asked !== 0) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#paint();
    });
  }

  #paint(): void {
    const { loop, step, act } = this;
    const theme = this.#theme;
    const width = this.#canvas.parentElement!.clientWidth || 800;
    const place = { at: this.at, step, hasRatios: act === 4 };
    const scene = loopScene(loop, place, { width, maxHeight: this.#maxHeight, theme });
    const ratio = devicePixelRatio || 1;
    const { height } = scene.view;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== wide) this.#canvas.width = wide;
    if (this.#canvas.height !== high) this.#canvas.height = high;
    this.#canvas.style.height = `${height}px`;
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawTree(canvasPainter(context), { ...scene, view: { ...scene.view, width } });
    const painter = svgPainter();
    const curveWidth = this.#curve.clientWidth || 400;
    drawFresh(painter, theme, loop.payload, { width: curveWidth, height: curveHeight, step });
    // What the painter wrote: numbers of this program, no text of the tree.
    this.#curve.innerHTML = `<svg viewBox="0 0 ${curveWidth} ${curveHeight}" height="${curveHeight}">${painter.parts.join("")}</svg>`;
    this.#cards.tell((card, word) => loop.chance(card, word, step));
    const whole = Math.round(step);
    this.#tell(whole, `${width} ${scene.layout.isPhone}`, scene);
    performance.mark("arpo-loop");
  }

  /** What is said, where it is other than before. */
  #tell(step: number, size: string, scene: Parameters<typeof tellLegend>[0]): void {
    const { payload } = this.loop;
    const now = [this.act, step, size, this.#isPlaying].join();
    if (now === this.#told) return;
    this.#told = now;
    const [first, rest] = actWords(this.loop, this.act, step);
    this.#say.replaceChildren(element("b", {}, first), rest);
    // While it plays only the acts are spoken.
    this.#say.setAttribute("aria-live", this.#isPlaying && this.act === 4 ? "off" : "polite");
    this.#canvas.setAttribute("aria-label", `Rollout tree. ${first}${rest}`);
    [...this.#acts.children].forEach((button, i) => {
      if (i + 1 === this.act) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.#range.value = String(step);
    this.#range.style.setProperty("--p", `${(100 * step) / Math.max(1, payload.updates)}%`);
    this.#range.setAttribute("aria-valuetext", `after ${many(step, "update")}`);
    this.#big.textContent = `${Math.round(payload.fresh[step]!.share * payload.tries)} of ${payload.tries} right`;
    this.#about.textContent = `fresh tries after ${step} of ${payload.updates} updates; band: 95% interval`;
    this.#run.textContent = this.#isPlaying ? "❚❚ Pause" : "▶ Train";
    tellLegend(scene, this.#legend);
  }
}

/** Makes a loop of its data and shows it. */
export function makeLoop(
  outer: HTMLElement,
  payload: LoopPayload,
  colours: PageColours,
  height?: number,
): LoopPage {
  return new LoopPage(outer, payload, colours, height);
}

/** Brings one loop of the page to life. */
export const startLoop = starter<LoopPayload>("loop", (root, payload, _, colours) => {
  root.querySelector("[data-picture]")?.remove();
  makeLoop(root, payload, colours);
});
