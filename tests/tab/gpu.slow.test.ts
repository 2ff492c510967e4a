import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { askWorker } from "./ask-worker.js";
import { openChromium } from "./browsers/chromium.js";
import type { TabBrowser } from "./browsers/driven.js";
import { startSite } from "./site.js";
import type { StaticHost } from "./static-host.js";
import { gpuSteps, type GpuSteps } from "./work/gpu-steps.js";

// A GPU made of software, which Chromium brings and does not trust a page with unless it is told to.
const args = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

let browser: TabBrowser;
let site: StaticHost;
before(async () => {
  browser = await openChromium(args);
  site = await startSite({ "gpu-worker": "dist/tests/tab/work/gpu-worker.js" }, false);
});
after(async () => {
  await browser.close();
  site.stop();
});

const inTab = () => askWorker<GpuSteps[]>(browser, site, "gpu-worker", site.url);

const close = (actual: number[], expected: number[], within: number) => {
  assert.equal(actual.length, expected.length);
  for (const [i, value] of expected.entries()) {
    assert.ok(Math.abs(actual[i]! - value) < within, `${actual[i]} is not ${value}`);
  }
};

test("a browser trains a model and adapters on its GPU and decodes there, as the engine does in Node", async () => {
  const inNode = [await gpuSteps(false), await gpuSteps(true)];
  for (const [i, tab] of (await inTab()).entries()) {
    const node = inNode[i]!;
    assert.deepEqual([tab.backend, tab.decodes], ["webgpu", "webgpu"]);
    assert.notEqual(node.backend, "webgpu");
    close(tab.losses, node.losses, 1e-3);
    assert.ok(node.losses[0]! - node.losses[2]! > 0.01, "the loss falls");
    assert.deepEqual(tab.tokens, node.tokens);
    close(tab.logprobs, node.logprobs, 1e-3);
  }
});
