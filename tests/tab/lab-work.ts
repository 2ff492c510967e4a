import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askWorker } from "./ask-worker.js";
import type { TabBrowser } from "./browsers/driven.js";
import { startSite } from "./site.js";
import type { LabHashes } from "./work/lab-hashes.js";
import type { TabWork } from "./work/tab-worker.js";

const files = [
  ...["config", "generation_config", "tokenizer", "tokenizer_config"].map(
    (name) => `data/models/tiny/${name}.json`,
  ),
  "data/models/tiny/model.safetensors",
  "native/arpo.wasm",
  "native/arpo-relaxed.wasm",
  "vendor/node-sqlite3-wasm.wasm",
];

/** The work in a process of Node, by an engine of it. */
export function inNode(threads: number, backend = "wasm"): LabHashes {
  const folder = mkdtempSync(join(tmpdir(), "tab-"));
  try {
    const module = new URL("./work/lab-hashes.js", import.meta.url).href;
    const code = `const { labHashes } = await import(${JSON.stringify(module)});
      console.log(JSON.stringify(await labHashes(${JSON.stringify(folder)})));`;
    const env = {
      ...process.env,
      ARPO_LAB_BACKEND: backend,
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

export interface InTab {
  hashes: LabHashes;
  isolated: boolean;
  /** Whether its threads can share memory. */
  shares: boolean;
  /** What was said on the console. */
  said: string[];
}

/** The same in a worker of a page. */
export async function inTab(
  browser: TabBrowser,
  isolated: boolean,
  threads: number,
  backend = "wasm",
): Promise<InTab> {
  const site = await startSite({ "tab-worker": "dist/tests/tab/work/tab-worker.js" }, isolated);
  try {
    const work: TabWork = {
      base: site.url,
      files,
      environment: { ARPO_LAB_THREADS: String(threads), ARPO_LAB_BACKEND: backend },
    };
    return await askWorker<InTab>(browser, site, "tab-worker", work);
  } finally {
    site.stop();
  }
}
