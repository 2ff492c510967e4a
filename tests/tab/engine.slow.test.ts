import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium } from "./chromium.js";
import { inNode, inTab } from "./lab-work.js";
import type { LabHashes } from "./work/lab-hashes.js";

let browser: Browser;
before(async () => {
  browser = await launchChromium();
});
after(() => browser.close());

const hashesOf = ({ greedy, texts, logprobs, weights, second }: LabHashes) => ({
  ...{ greedy, texts, logprobs, weights, second },
});

for (const [how, isolated, asked, threads] of [
  ["a tab without isolation, with one thread whatever is asked for", false, 2, 1],
  ["an isolated tab with one thread", true, 1, 1],
  ["an isolated tab with two threads", true, 2, 2],
] as const) {
  test(`${how}: trees, log-probabilities and trained weights are those of Node's wasm`, async () => {
    const tab = await inTab(browser, isolated, asked);
    assert.equal(tab.isolated, isolated);
    const chosen = `arpo-lab: tensors on wasm (simd128, ${threads} thread${threads > 1 ? "s" : ""})`;
    assert.ok(tab.said.includes(chosen), tab.said.join("\n"));
    assert.deepEqual(hashesOf(tab.hashes), hashesOf(inNode(threads)));
  });
}
