import { createServer, type Server } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { siteFiles, typescriptModule } from "../../cli/site/site-files.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { bundleForTab, bundleFrame, kernelThreads, threads } = (await import(
  new URL("../../../scripts/tab/bundle.mjs", import.meta.url).href
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
const types: Record<string, string> = { js: "text/javascript", html: "text/html" };
const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Where a file of the package is in the repository; SQLite's is a package's own. */
const sourceOf = (name: string) =>
  name.startsWith("vendor/")
    ? join(root, "node_modules/node-sqlite3-wasm/dist", basename(name))
    : join(root, name);

/** A folder of static files on a plain host, with the headers of isolation or without. */
export class Site {
  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  /** Bundles compiled scripts by name, and serves them below a path with the package's files beside them. */
  static async start(
    entries: Record<string, string>,
    isolated: boolean,
    withKernel = false,
  ): Promise<Site> {
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
    const server = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://host").pathname;
      const name = path.replace(/^\/some-repo\//, "");
      const type = types[name.split(".").at(-1)!] ?? "application/octet-stream";
      try {
        const body =
          name === "index.html"
            ? "<!doctype html><title>tab</title>"
            : (scripts.get(name) ?? readFileSync(sourceOf(name)));
        response.writeHead(200, { "content-type": type, ...(isolated ? isolation : {}) });
        response.end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return new Site(server, `http://127.0.0.1:${port}/some-repo/`);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
