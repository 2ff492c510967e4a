// What a page does with a kernel behind it: forks from the explorer, a board that follows its run.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPage } from "../../kernel/server/build-page.js";
import { LabServer } from "../../kernel/server/lab-server.js";
import { browserPath } from "./browser.js";

const skip = browserPath === undefined && "no Chromium on this machine";
const folder = mkdtempSync(join(tmpdir(), "arpo-views-"));
const sources = [
  `import { rollout } from "arpo-lab";
import { randomTextPolicy } from "arpo-lab/experimental/testing";
import { calculator, ToolSet } from "arpo-lab/tools";
const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], {
  n: 6, initialRollouts: 2, beamSize: 3, tools: new ToolSet([calculator()]), seed: 4,
});
tree`,
  `import { forks } from "arpo-lab";
forks.map((fork) => [fork.origin?.node, fork.trajectories.length])`,
  `import { tasks, trainOn } from "arpo-lab";
import { policy } from "arpo-lab/internal/stages";
const run = await trainOn(policy, tasks.calc({ seed: 7 }), { steps: 3, prompts: 2, n: 4 });
run`,
  `import { tasks, trainOn } from "arpo-lab";
import { policy } from "arpo-lab/internal/stages";
const long = await trainOn(policy, tasks.calc({ seed: 7 }), { steps: 900, prompts: 2, n: 4 });
\`it came back with ${"$"}{long.steps.length} steps\``,
];
const notebook = {
  cells: sources.map((source, i) => ({
    ...{ cell_type: "code", execution_count: null, id: `c${i}`, metadata: {}, outputs: [], source },
  })),
  metadata: {
    kernelspec: { name: "arpo-lab", display_name: "TypeScript (arpo-lab)", language: "typescript" },
  },
  nbformat: 4,
  nbformat_minor: 5,
};

let server: LabServer;
let browser: Browser;
let page: Page;
const errors: string[] = [];

before(async () => {
  if (skip !== false) return;
  writeFileSync(join(folder, "views.ipynb"), JSON.stringify(notebook));
  server = await LabServer.start({ folder, page: await buildPage() });
  browser = await chromium.launch({ executablePath: browserPath!, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  page.setDefaultTimeout(120_000);
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${server.url}lab/tree/views.ipynb?token=${server.token}`);
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const cell = (n: number) => `.jp-Notebook .jp-Cell:nth-child(${n})`;
async function runCell(n: number): Promise<void> {
  await page.click(`${cell(n)} .cm-content`);
  await page.keyboard.press("Control+Enter");
}

test(
  "the explorer forks a tree in the kernel and shows the new one in its place",
  { skip },
  async () => {
    await runCell(1);
    await page.waitForSelector(`${cell(1)} .arpo-explorer canvas`);
    const title = await page.textContent(`${cell(1)} .arpo-title`);
    assert.match(title!, /6 trajectories/);
    const open = async (at: string) => {
      await page.focus(`${at} .ax-scroll`);
      for (const key of ["ArrowRight", "Enter"]) await page.keyboard.press(key);
      await page.click(`${at} .ax-actions summary`);
    };
    await open(cell(1));
    await page.fill(`${cell(1)} [data-count]`, "3");
    await page.click(`${cell(1)} [data-action=fork]`);
    await page.waitForSelector(`${cell(1)} .arpo-forked .ax-scroll canvas`);
    const forked = await page.textContent(`${cell(1)} .arpo-forked .arpo-title`);
    assert.match(forked!, /3 trajectories/);
    assert.match(
      (await page.textContent(`${cell(1)} .arpo-fork`))!,
      /In cells this tree is forks\[0\]/,
    );

    // The new tree is a value in cells, and can be forked again.
    await open(`${cell(1)} .arpo-forked`);
    await page.click(`${cell(1)} .arpo-forked [data-action=resample]`);
    await page.waitForSelector(`${cell(1)} .arpo-forked .arpo-forked .ax-scroll canvas`);
    await runCell(2);
    await page.waitForSelector(`${cell(2)} .jp-OutputArea-output`);
    assert.match((await page.textContent(`${cell(2)} .jp-OutputArea-output`))!, /3 ?\][^]*1 ?\]/);
    if (process.env["ARPO_LAB_SCREENSHOTS"]) {
      await page.screenshot({ path: join(process.env["ARPO_LAB_SCREENSHOTS"], "fork.png") });
    }
    await page.click(`${cell(1)} .arpo-forked .arpo-forked .arpo-fork button`);
    assert.equal(await page.locator(`${cell(1)} .arpo-forked .ax-scroll canvas`).count(), 1);
  },
);

test("a run's board follows it in one output, which the notebook keeps", { skip }, async () => {
  await runCell(3);
  await page.waitForSelector(`${cell(3)} .arpo-board .arpo-curve svg`);
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  await page.waitForFunction(
    (at) => document.querySelectorAll(`${at} .arpo-board [data-scrub]`).length === 1,
    cell(3),
  );
  assert.equal(await page.locator(`${cell(3)} .arpo-board`).count(), 1);
  assert.match((await page.textContent(`${cell(3)} .arpo-board`))!, /step 3 of 3/);
  await page.focus(`${cell(3)} [data-scrub]`);
  await page.keyboard.press("Home");
  assert.match((await page.textContent(`${cell(3)} .arpo-board fieldset output`))!, /step 1 of 3/);
  if (process.env["ARPO_LAB_SCREENSHOTS"]) {
    await page.screenshot({ path: join(process.env["ARPO_LAB_SCREENSHOTS"], "live-board.png") });
  }
  await page.keyboard.press("Control+s");
  const saved = () => readFileSync(join(folder, "views.ipynb"), "utf8");
  for (let i = 0; i < 100 && !saved().includes("arpo-board"); i++) await page.waitForTimeout(100);
  assert.equal(saved().match(/data-board>/g)?.length, 1);
  assert.deepEqual(errors, []);
});

test(
  "a run tells what it does within a second, and Stop ends it after its step",
  { skip },
  async () => {
    await runCell(4);
    const line = `${cell(4)} .arpo-board [data-line]`;
    await page.waitForFunction(
      (at) =>
        /step \d+\/900 · rolling out \d\/8/.test(document.querySelector(at)?.textContent ?? ""),
      line,
    );
    await page.waitForFunction(
      (at) => /s\/step · ETA \d+/.test(document.querySelector(at)?.textContent ?? ""),
      line,
    );
    await page.waitForSelector(`${cell(4)} .arpo-board .arpo-curve svg`);
    await page.click(`${cell(4)} .arpo-board button:text("Stop")`);
    await page.waitForSelector(`${cell(4)} .jp-OutputArea-output:has-text("it came back with")`);
    const text = (await page.textContent(`${cell(4)} .jp-Cell-outputArea`))!;
    const [, steps] = /it came back with (\d+) steps/.exec(text)!;
    assert.ok(Number(steps) < 900, steps);
    await page.waitForSelector(`${cell(4)} .arpo-board :text("stopped at step ${steps}")`);
    assert.equal(await page.locator(`${cell(4)} .arpo-board button:text("Stop")`).count(), 0);
    // The engine's line is not in a cell, where it would look like an error.
    assert.equal(
      await page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count(),
      0,
    );
    assert.deepEqual(errors, []);
  },
);
