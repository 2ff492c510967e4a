import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { TabBrowser } from "./browsers/driven.js";
import { openBrowser } from "./browsers/open-browser.js";
import { type InTab, inNode, inTab } from "./lab-work.js";
import type { LabHashes } from "./work/lab-hashes.js";

let browser: TabBrowser;
before(async () => {
  browser = await openBrowser();
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
    // Some builds of WebKit share no memory, and take one thread.
    const uses = tab.shares ? threads : 1;
    const chosen = `arpo-lab: tensors on wasm (simd128, ${uses} thread${uses > 1 ? "s" : ""})`;
    assert.ok(tab.said.includes(chosen), tab.said.join("\n"));
    assert.deepEqual(hashesOf(tab.hashes), hashesOf(inNode(threads)));
  });
}

test("relaxed arithmetic: other last bits, the same with one thread and with two", async (t) => {
  const relaxed = (threads: number) => inTab(browser, true, threads, "wasm-relaxed");
  let one: InTab;
  try {
    one = await relaxed(1);
  } catch (error) {
    // Chromium has it, others not yet.
    assert.doesNotMatch(browser.name, /chrom/i);
    assert.match(String(error), /wasm-relaxed must run where WebAssembly has relaxed SIMD/);
    return t.diagnostic(`refused by ${browser.name}`);
  }
  assert.ok(
    one.said.includes("arpo-lab: tensors on wasm-relaxed (relaxed simd128, 1 thread)"),
    one.said.join("\n"),
  );
  assert.deepEqual(hashesOf(one.hashes), hashesOf((await relaxed(2)).hashes));
  const node = inNode(1);
  assert.equal(one.hashes.greedy, node.greedy);
  assert.notEqual(one.hashes.weights, node.weights);
  const apart = one.hashes.known.map((logprob, i) => Math.abs(logprob - node.known[i]!));
  assert.ok(Math.max(...apart) < 1e-5, `log-probabilities are ${Math.max(...apart)} apart`);
});
