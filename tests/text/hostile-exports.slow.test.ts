// Views that are saved or shown are pages: whatever a model, a tool, a task or a run is called or wrote, opened in
// a browser and clicked through, none of it becomes a program.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Random } from "../../src/base/random/random.js";
import { score } from "../../src/reward/score-trees.js";
import { rollout } from "../../src/rollout/rollout.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import {
  branchingView,
  branchTimeline,
  creditView,
  entropyProfile,
  entropyTree,
  explore,
  passAtKCurve,
  toHtml,
  tokenEntropy,
  toolUse,
  toSvg,
} from "../../src/api/view.js";
import { launchChromium } from "../tab/browsers/chromium.js";
import { temporaryFolder } from "../temporary.js";

const payloads = [
  "</script><script>window.pwned=1</script>",
  "<img src=x onerror=window.pwned=1>",
  '"><svg onload=window.pwned=1>',
  "'><img src=x onerror=window.pwned=1>",
  "<!--<script>",
  "]]><script>window.pwned=1</script>",
  "javascript:window.pwned=1",
  "</title><script>window.pwned=1</script>",
  "</text><script>window.pwned=1</script>",
  "&lt;script&gt;window.pwned=1&lt;/script&gt;",
  "<a href='javascript:window.pwned=1'>x</a>",
  "</style><script>window.pwned=1</script>",
];
const all = payloads.join(" ");

let browser: Browser;
before(async () => {
  browser = await launchChromium();
});
after(async () => await browser.close());

async function pages(): Promise<Record<string, string>> {
  const draw = Random.from(1);
  const pick = () => draw.choose(payloads);
  const policy = new ScriptedPolicy(({ options: { random } }) => {
    if (random.uniform() < 0.6) return { text: `${pick()}<calc>${pick()}</calc>`, confidence: 0.5 };
    const text = `${pick()} \\boxed{${pick()}}<answer>${pick()}</answer>\u0001`;
    return { text, confidence: 0.6 };
  });
  const task = { prompt: all, id: all, groundTruth: all, dataSource: all };
  const trees = await rollout(policy, [task], { n: 4, initialRollouts: 2, seed: 1 });
  const scored = await score(trees, () => ({ score: 1, reason: all, parts: { [all]: 1 } }));
  const [tree] = trees as [(typeof trees)[0]];
  const marker = { color: payloads[2]! };
  const line = { color: payloads[3]!, dash: payloads[2]!, width: payloads[2]! };
  const font = { color: payloads[2]!, family: payloads[3]!, size: payloads[2]! };
  const trace = { x: [all, payloads[0]], y: [1, 2], name: all, text: [all, payloads[1]] };
  const figure = {
    data: [{ type: "scatter", ...trace, hovertemplate: all, marker, line }],
    layout: {
      ...{ title: { text: all }, paper_bgcolor: payloads[2], plot_bgcolor: payloads[3], font },
      ...{ width: payloads[2], xaxis: { title: { text: all } }, meta: { description: all } },
      annotations: [{ text: all, x: 1, y: 1 }],
    },
  };
  const bars = {
    data: [
      { type: "bar", x: payloads, y: payloads.map((_, i) => i), name: all, marker },
      { type: "heatmap", x: payloads, y: payloads, z: payloads.map(() => payloads.map(() => 1)) },
    ],
    layout: { title: all },
  };
  const curve = passAtKCurve({
    [payloads[0]!]: [{ n: 2, correct: 1 }],
    [all]: [{ n: 2, correct: 1 }],
  });
  const shown = {
    ...{ tree, scored, curve, figure, bars },
    ...{ entropyTree: entropyTree(tree, { title: all }), toolUse: toolUse(trees, { title: all }) },
    ...{ timeline: branchTimeline(tree, { title: all }), profile: entropyProfile(trees) },
    tokens: tokenEntropy(tree.trajectories[0]!),
  };
  const views = {
    explorer: explore(tree),
    branching: branchingView(tree),
    credit: creditView(scored),
  };
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...shown, ...views }))
    made[`${name}.html`] = await toHtml(value as never);
  for (const [name, value] of Object.entries(shown))
    made[`${name}.svg`] = await toSvg(value as never);
  return made;
}

test("saved and shown views run nothing that texts, names and labels hold", async () => {
  const folder = temporaryFolder("hostile-exports");
  for (const [name, text] of Object.entries(await pages())) {
    const path = join(folder, name);
    writeFileSync(path, text);
    const page = await browser.newPage();
    await page.goto(`file://${path}`);
    await page.waitForLoadState("load");
    for (const element of (
      await page.$$("button, summary, [tabindex], svg rect, svg circle")
    ).slice(0, 10)) {
      await element.dispatchEvent("mousemove");
      await element.dispatchEvent("click");
    }
    // What an image that fails would do comes after it has failed.
    const pwned = await page.evaluate(async () => {
      await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
      return (globalThis as { pwned?: unknown }).pwned;
    });
    assert.equal(pwned, undefined, name);
    await page.close();
  }
});

test("the check finds a page that does run something", async () => {
  const page = await browser.newPage();
  await page.setContent(`<p>${payloads[1]}`);
  const pwned = await page.evaluate(async () => {
    await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
    return (globalThis as { pwned?: unknown }).pwned;
  });
  assert.equal(pwned, 1);
  await page.close();
});
