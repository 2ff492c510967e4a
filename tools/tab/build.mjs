// Writes the programs that every site of the lab has, from a clone: `node tools/tab/build.mjs` fills
// dist/tab-site. A package brings them; `arpo-lab site` adds what else is in the package, and the page.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleForTab, bundleFrame, kernelThreads, pageScripts, root, threads } from "./bundle.mjs";
import { writeBenchmarkPage } from "../bench/page/write-page.mjs";
import { writeExplorePage } from "./explore-page.mjs";
import { writeLandingPage } from "../site/landing-page.mjs";

const out = join(root, "dist/tab-site");
const write = (name, bytes) => writeFileSync(join(out, name), bytes);
// No name becomes another: cells see the names of classes.
const small = { minifyWhitespace: true, minifySyntax: true, legalComments: "none" };

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "scripts"), { recursive: true });
const scripts = { ...threads, ...kernelThreads, server: "dist/apps/site/tab/server/server.js" };
const { outputFiles } = await bundleForTab(scripts, small);
const frame = await bundleFrame({ ...small, minifyIdentifiers: true, keepNames: false });
for (const { path, contents } of [...outputFiles, ...frame.outputFiles])
  write(`scripts/${basename(path)}`, contents);
const whole = { ...small, splitting: false, format: "iife" };
const alone = await bundleForTab(pageScripts, { ...whole, globalName: "tab" });
for (const { path, contents } of alone.outputFiles) write(basename(path), contents);
await writeBenchmarkPage(out);
await writeExplorePage(out, { policy: false });
await writeLandingPage(out);
