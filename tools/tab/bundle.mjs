// How the lab is bundled for a browser tab: all scripts in one folder, the browser's half of everything.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Threads are scripts of their own, beside the others. */
export const threads = { "wasm-worker": "dist/src/tensor/engine/wasm-worker.js" };

/** The kernel's threads. */
export const kernelThreads = {
  cells: "dist/apps/site/tab/kernel/cells.js",
  compiler: "dist/apps/site/tab/kernel/compiler.js",
};

/** Scripts of the page itself, each a file alone. Another page of the site is another entry. */
export const pageScripts = {
  start: "dist/apps/site/tab/page/start.js",
  "service-worker": "dist/apps/site/tab/page/service-worker.js",
};

/** What Python's frame is made of, each a file alone: it reaches the frame as text. */
export const frameScripts = {
  "python-frame": "dist/apps/site/tab/python/frame-program.js",
  "python-worker": "dist/apps/site/tab/python/python-worker.js",
};

/** Bundles them. Pyodide names what only Node has; a frame never asks for it. */
export const bundleFrame = (options = {}) =>
  bundleForTab(frameScripts, {
    ...{ splitting: false, format: "iife", external: ["node:*", "ws"] },
    ...options,
  });

/** Bundles compiled entries by name. Names stay as they are: views are made of functions' own text. */
export function bundleForTab(entryPoints, options = {}) {
  return build({
    entryPoints,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    conditions: ["browser"],
    target: "es2022",
    charset: "utf8",
    keepNames: true,
    absWorkingDir: root,
    metafile: true,
    write: false,
    outdir: "/tab",
    logLevel: "silent",
    ...options,
  });
}
