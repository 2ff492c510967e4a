// The explorer of a tree of 1,000 nodes and 200,000 tokens, and what a live board costs a training run.
import { policy, tools } from "../../src/run/session-defaults.js";
import { tasks, trainOn, type TrainingRun } from "../../src/api/index.js";
import { explore } from "../../src/view/explorer/explore.js";
import { largeTree } from "../../src/view/testing/large-tree.js";
import { browserPath, openPage } from "../../tests/view/browser.js";
import type { Figure } from "./figure.js";

const drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Frames per second while the drawing is scrolled to and fro for two seconds. */
const pan = `new Promise((done) => {
  const scroller = document.querySelector(".ax-scroll");
  const began = performance.now();
  let frames = 0;
  const next = () => {
    const passed = performance.now() - began;
    scroller.scrollLeft = (passed * 2) % scroller.scrollWidth;
    scroller.scrollTop = (passed / 4) % 400;
    frames++;
    if (passed < 2000) requestAnimationFrame(next);
    else done((1000 * frames) / passed);
  };
  requestAnimationFrame(next);
})`;

export async function* figures(): AsyncGenerator<Figure> {
  const tree = await largeTree();
  const began = performance.now();
  const bundle = explore(tree).bundle();
  yield { name: "view.large_tree_made", value: performance.now() - began, unit: "ms" };
  const saved = JSON.stringify(bundle).length / 1e6;
  yield { name: "view.large_tree_saved", value: saved, unit: "MB" };
  if (browserPath !== undefined) {
    const page = await openPage(bundle["text/html"]!);
    await page.evaluate(drawn);
    // From the page's beginning until the tree is on it.
    const opened = `performance.getEntriesByName("arpo-explorer")[0].startTime`;
    const value = Number(await page.evaluate(opened));
    yield { name: "view.large_tree_opens", value, unit: "ms" };
    await page.evaluate(`document.querySelector("[aria-label='zoom in']").click()`);
    await page.evaluate(`document.querySelector("[aria-label='zoom in']").click()`);
    await page.evaluate(drawn);
    const fps = Number(await page.evaluate(pan));
    yield { name: "view.large_tree_pans", value: fps, unit: "frames/s" };
    if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
    await page.close();
  }
  yield* boardShare();
}

/** A run with its board shown as a kernel shows it, and the share of the time that took. */
async function* boardShare(): AsyncGenerator<Figure> {
  const key = Symbol.for("arpo-lab.kernel.host");
  const holder = globalThis as { [key: symbol]: unknown };
  let updates = 0;
  let characters = 0;
  holder[key] = {
    cell: () => ({ id: "1" }),
    display: (shown: object) => {
      updates++;
      characters += JSON.stringify(shown).length;
    },
  };
  const { registerWatch } = await import("../../src/base/show/show-as.js");
  const { watchRun } = await import("../../src/view/board/live.js");
  let spent = 0;
  let atEnd = 0;
  registerWatch("TrainingRun", (run: TrainingRun) => {
    const live = watchRun(run)!;
    const timed = (part: () => void) => {
      const from = performance.now();
      part();
      return performance.now() - from;
    };
    return {
      step: () => void (spent += timed(live.step)),
      done: () => void (atEnd = timed(live.done)),
    };
  });
  try {
    const from = performance.now();
    await trainOn(policy, tasks.mixed({ seed: 7 }), {
      ...{ tools, steps: 20, prompts: 4, n: 8, seed: 1 },
    });
    const whole = performance.now() - from;
    yield { name: "view.live_board_share", value: (100 * spent) / whole, unit: "%" };
    yield { name: "view.live_board_updates", value: updates, unit: "updates" };
    yield { name: "view.live_board_sent", value: characters / updates / 1e6, unit: "MB" };
    yield { name: "view.board_at_end", value: atEnd, unit: "ms" };
  } finally {
    registerWatch("TrainingRun", watchRun);
    holder[key] = undefined;
  }
}
