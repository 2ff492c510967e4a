import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { siteFiles, typescriptModule } from "../../apps/site/write/write-site.js";
import { type Find, inFolder, StaticHost } from "./static-host.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { bundleForTab, bundleFrame, kernelThreads, threads } = (await import(
  new URL("../../../tools/tab/bundle.mjs", import.meta.url).href
)) as {
  bundleForTab: (
    entries: Record<string, string>,
    options?: object,
  ) => Promise<{ outputFiles: { path: string; contents: Uint8Array }[] }>;
  bundleFrame: () => Promise<{ outputFiles: { path: string; contents: Uint8Array }[] }>;
  threads: Record<string, string>;
  kernelThreads: Record<string, string>;
};

const oneFile = { splitting: false, format: "iife" };
const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

const ofRepository = inFolder(root);
const ofSqlite = inFolder(join(root, "node_modules/node-sqlite3-wasm/dist"));

/**
 * Bundles compiled scripts by name, and serves them on a plain host with the package's files beside them, with the
 * headers of isolation or without.
 */
export async function startSite(
  entries: Record<string, string>,
  isolated: boolean,
  withKernel = false,
): Promise<StaticHost> {
  const all = { ...entries, ...threads, ...(withKernel ? kernelThreads : {}) };
  const { outputFiles } = await bundleForTab(all);
  const scripts = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  if (withKernel) {
    const attempts = { "attempts-worker": "dist/tests/tab/work/attempts-worker.js" };
    const alone = [await bundleFrame(), await bundleForTab(attempts, oneFile)];
    for (const { path, contents } of alone.flatMap(({ outputFiles: made }) => made))
      scripts.set(`scripts/${basename(path)}`, contents);
    for (const [name, bytes] of siteFiles()) scripts.set(name, bytes);
    scripts.set("typescript.js", typescriptModule());
  }
  const find: Find = (name) => {
    if (name === "index.html") return Buffer.from("<!doctype html><title>tab</title>");
    const own = scripts.get(name);
    if (own !== undefined) return own;
    return name.startsWith("vendor/") ? ofSqlite(basename(name)) : ofRepository(name);
  };
  return await StaticHost.start(find, isolated ? { headers: isolation } : {});
}
