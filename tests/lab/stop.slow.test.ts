// Stop buttons of work in cells: it ends where it says, the cell gets what there is, and goes on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const start = `import { evaluate, fineTune, tasks, trainOn } from "arpo-lab";
import { sweep } from "arpo-lab/run";
import { branchValues } from "arpo-lab/rollout";
import { policy } from "arpo-lab/internal/stages";
const set = tasks.calc({ seed: 7 });`;

/** Work by its name: a cell that takes long, from when on it is stopped, and what comes back. */
const works: Record<string, { source: string; when: RegExp; back: RegExp }> = {
  trainOn: {
    source: `const run = await trainOn(policy, set, { steps: 900, prompts: 2, n: 4 });
\`came back: \${run.steps.length} of \${run.stoppedAt}\``,
    when: /^step [2-9]\/900/,
    back: /came back: (\d+) of \1/,
  },
  fineTune: {
    source: `const ids = [1, 2, 3, 4, 5, 6];
const tuning = await fineTune(policy, Array(64).fill({ ids, labels: ids }), { epochs: 900, batchSize: 1 });
\`came back: \${tuning.steps.length} of \${tuning.stoppedAt}\``,
    when: /^step \d\d+\/57600/,
    back: /came back: (\d+) of \1/,
  },
  evaluate: {
    source: `const many = Array.from({ length: 4000 }, (_, i) => set.test[i % set.test.length]);
const evaluation = await evaluate(policy, many);
\`came back: \${evaluation.results.length} of \${evaluation.stoppedAt?.tasks}\``,
    when: /^answering [1-9]\d*\/4000/,
    back: /came back: (\d+) of \1/,
  },
  sweep: {
    source: `const runs = await sweep({ folder: "runs", preset: "tiny", seeds: [1, 2], arms: { fresh: { preset: "grpo" }, trees: { preset: "arpo" } } });
\`came back: \${runs.runs.length}, \${[...new Set(runs.runs.map(({ state }) => state))]}\``,
    when: /^0 of 4 runs done/,
    back: /came back: 4, stopped/,
  },
  branchValues: {
    source: `const values = await branchValues(policy, Array.from({ length: 400 }, (_, i) => set.test[i % set.test.length]), { K: 2, group: 1 });
\`came back: \${values.records.length < 400}\``,
    when: /^measuring branch values [1-9]\d*\/400/,
    back: /came back: true/,
  },
};

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [start, ...Object.values(works).map(({ source }) => source)];
  const file = notebookFile(cells.map((source, i) => codeCell(`c${i}`, source)));
  lab = await BrowserLab.start({ "stop.ipynb": file });
  tab = await lab.tab();
  await tab.open("stop.ipynb");
  await tab.run(1);
  await tab.idle();
});
after(async () => {
  if (skip === false) await lab.stop();
});

Object.entries(works).forEach(([name, { when, back }], i) => {
  test(`Stop ends ${name} with what there is`, { skip }, async () => {
    const n = i + 2;
    await tab.run(n);
    const line = tab.page.locator(`${tab.cell(n)} [data-line]`).last();
    await line.filter({ hasText: when }).waitFor();
    await tab.page
      .locator(`${tab.cell(n)} button:text("Stop")`)
      .last()
      .click();
    await tab.output(n, "came back: ");
    const text = await tab.outputText(n);
    assert.match(text, back);
    assert.equal(await tab.page.locator(`${tab.cell(n)} button:text("Stop")`).count(), 0);
    if (name === "trainOn" || name === "fineTune") assert.match(text, /stopped at step \d+/);
    await tab.picture(`stop-${name}`);
  });
});

test("what was stopped is in Values", { skip }, async () => {
  for (const name of ["run", "tuning", "evaluation", "runs", "values"]) {
    await tab.page.locator(`.arpo-Values-item[data-name="${name}"]`).waitFor();
  }
});
