import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { type Browser, chromium } from "playwright-core";
import { Site } from "./site.js";
import type { LabHashes } from "./work/lab-hashes.js";
import type { TabWork } from "./work/tab-worker.js";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const files = [
  ...["config", "generation_config", "tokenizer", "tokenizer_config"].map(
    (name) => `data/models/tiny/${name}.json`,
  ),
  "data/models/tiny/model.safetensors",
  "native/arpo.wasm",
  "vendor/node-sqlite3-wasm.wasm",
];

let browser: Browser;
before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(() => browser.close());

/** The same work by Node's wasm engine. */
function inNode(threads: number): LabHashes {
  const folder = mkdtempSync(join(tmpdir(), "tab-"));
  try {
    const module = new URL("./work/lab-hashes.js", import.meta.url).href;
    const code = `const { labHashes } = await import(${JSON.stringify(module)});
      console.log(JSON.stringify(await labHashes(${JSON.stringify(folder)})));`;
    const env = {
      ...process.env,
      ARPO_LAB_BACKEND: "wasm",
      ARPO_LAB_THREADS: String(threads),
    };
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return JSON.parse(out) as LabHashes;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface InTab {
  hashes: LabHashes;
  isolated: boolean;
  said: string[];
}

async function inTab(isolated: boolean, threads: number): Promise<InTab> {
  const site = await Site.start({ "tab-worker": "dist/tests/tab/work/tab-worker.js" }, isolated);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    await page.goto(`${site.url}index.html`);
    const work: TabWork = {
      base: site.url,
      files,
      environment: { ARPO_LAB_THREADS: String(threads) },
    };
    const answer = await page.evaluate(
      (asked) =>
        new Promise<{ hashes: LabHashes; isolated: boolean } | { error: string }>((resolve) => {
          const worker = new Worker("tab-worker.js", { type: "module" });
          worker.onmessage = ({ data }: MessageEvent<InTab>) => resolve(data);
          worker.onerror = ({ message }) => resolve({ error: message });
          worker.postMessage(asked);
        }),
      work,
    );
    if ("error" in answer) assert.fail(`${answer.error}\n${said.join("\n")}`);
    return { ...answer, said };
  } finally {
    await context.close();
    site.stop();
  }
}

const hashesOf = ({ greedy, texts, logprobs, weights, second }: LabHashes) => ({
  ...{ greedy, texts, logprobs, weights, second },
});

for (const [how, isolated, asked, threads] of [
  ["a tab without isolation, with one thread whatever is asked for", false, 2, 1],
  ["an isolated tab with one thread", true, 1, 1],
  ["an isolated tab with two threads", true, 2, 2],
] as const) {
  test(`${how}: trees, log-probabilities and trained weights are those of Node's wasm`, async () => {
    const tab = await inTab(isolated, asked);
    assert.equal(tab.isolated, isolated);
    const chosen = `arpo-lab: tensors on wasm (simd128, ${threads} thread${threads > 1 ? "s" : ""})`;
    assert.ok(tab.said.includes(chosen), tab.said.join("\n"));
    assert.deepEqual(hashesOf(tab.hashes), hashesOf(inNode(threads)));
  });
}
