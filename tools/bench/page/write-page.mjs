// Writes the page that measures training in a browser: OUT/benchmark.html and OUT/benchmark/, from compiled sources.
// The engine's builds are the site's own, OUT/package/native.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleForTab, root, threads } from "../../tab/bundle.mjs";

/** Nothing is read from a database here. */
const withoutDatabase = {
  name: "without-database",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#sqlite$/ }, () => ({ path: "none", namespace: "database" }));
    onLoad({ filter: /./, namespace: "database" }, () => ({ contents: "export {};" }));
  },
};

/** Writes the page below a folder. */
export async function writeBenchmarkPage(out) {
  const page = { page: "dist/tools/bench/page/page.js", worker: "dist/tools/bench/page/worker.js" };
  const { outputFiles } = await bundleForTab(
    { ...page, ...threads },
    { minify: true, plugins: [withoutDatabase], chunkNames: "part-[hash]" },
  );
  const folder = join(out, "benchmark");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    writeFileSync(join(folder, basename(path)), contents);
  }
  cpSync(join(root, "tools/bench/page/benchmark.html"), join(out, "benchmark.html"));
}
