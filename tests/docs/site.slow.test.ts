// The documentation as `npm run docs` builds it, on a plain host of static files below a path, in Chromium.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../tab/browsers/chromium.js";
import { inFolder, StaticHost } from "../tab/static-host.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const site = join(root, "dist/docs");
const pictures = process.env["ARPO_LAB_SCREENSHOTS"];
const faults: string[] = [];
let browser: Browser;
let host: StaticHost;
let page: Page;

before(async () => {
  const made = spawnSync("npm", ["run", "-s", "docs"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  assert.equal(made.status, 0, made.stdout + made.stderr);
  // As hosts of static files do, a folder answers with its index.html.
  const find = inFolder(site);
  host = await StaticHost.start((name) => find(name.replace(/\/$/, "/index.html")));
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (line) => {
    // The explorer is beside these pages only where `arpo-lab site` has put both.
    if (line.type() === "error" && !line.location().url.endsWith("/explore.html"))
      faults.push(`${line.text()} ${line.location().url}`);
  });
});
after(async () => {
  await browser.close();
  host.stop();
});

test("every link and picture of the built pages leads somewhere", () => {
  let count = 0;
  const bad = new Set<string>();
  const idsOf = new Map<string, Set<string>>();
  const ids = (path: string): Set<string> => {
    if (!idsOf.has(path)) {
      const found = readFileSync(path, "utf8").matchAll(/\sid="([^"]+)"/g);
      idsOf.set(path, new Set([...found].map(([, id]) => id!)));
    }
    return idsOf.get(path)!;
  };
  for (const name of readdirSync(site, { recursive: true, encoding: "utf8" })) {
    // A pre-registration is never edited again, its links neither.
    if (!name.endsWith(".html") || /preregistration/.test(name)) continue;
    const path = join(site, name);
    for (const [, raw = ""] of readFileSync(path, "utf8").matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(raw)) {
        if (raw.includes("arpo-lab.invalid")) bad.add(`${name}: ${raw}`);
        continue;
      }
      count++;
      const [file = "", anchor = ""] = raw.replaceAll("&amp;", "&").split("#");
      let target = file === "" ? path : join(dirname(path), decodeURIComponent(file));
      if (file.endsWith("/")) target = join(target, "index.html");
      if (!existsSync(target)) bad.add(`${name} leads to ${raw}`);
      else if (
        anchor !== "" &&
        target.endsWith(".html") &&
        !ids(target).has(decodeURIComponent(anchor))
      )
        bad.add(`${name}: no anchor ${raw}`);
    }
  }
  assert.deepEqual([...bad], []);
  assert.ok(count > 2000, `${count} links`);
});

test("pages open below a path, lead to each other from any depth, and ask no other host", async () => {
  await page.goto(host.url);
  for (const [name, address] of [
    ["Configuration", "config.html"],
    ["API", "reference/"],
    ["Your own task", "own.html"],
    ["Metrics", "metrics.html"],
  ] as const) {
    await page.locator(".VPSidebar a", { hasText: new RegExp(`^${name}$`) }).click();
    await page.waitForURL(`${host.url}${address}`);
    await page.locator(".vp-doc h1").waitFor();
    await page.waitForLoadState("networkidle");
    // And by itself, as a link from elsewhere opens it.
    await page.goto(page.url().replace(/\/$/, "/index.html"));
    await page.locator(".vp-doc h1").waitFor();
  }
  assert.match(
    (await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content")) ??
      "",
    /default-src 'self'/,
  );
  assert.deepEqual(faults, []);
});

/** The addresses that a search finds, the best first. */
async function search(words: string): Promise<string[]> {
  await page.goto(host.url);
  // The box shows what the last search found until it has searched anew.
  await page.evaluate(() => sessionStorage.clear());
  await page.locator(".VPNavBarSearch button").first().click();
  await page.locator(".VPLocalSearchBox input").fill(words);
  const results = page.locator(".VPLocalSearchBox a.result");
  await results.first().waitFor();
  return results.evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).pathname));
}

for (const [words, first] of [
  ["KV cache", "models.html"],
  ["branch probability", "rollout.html"],
  ["resume", "troubleshooting.html"],
  ["mask tool results", "sft.html"],
  ["rollout options", "rollout.html"],
  ["temperature", "faq.html"],
  ["GPU", "gpu.html"],
  ["how to stop", "faq.html"],
  ["reward function", "own.html"],
  ["tell the model about its tools", "faq.html"],
  ["early stopping", "faq.html"],
  ["multi-turn", "faq.html"],
  ["Qwen2.5", "faq.html"],
  ["system prompt", "faq.html"],
  ["save model", "faq.html"],
  ["group size", "faq.html"],
  ["clip higher", "faq.html"],
  ["entropy bonus", "faq.html"],
  ["wandb", "faq.html"],
  ["install", "get-started.html"],
  ["jupyter", "faq.html"],
  ["export", "cli.html"],
  ["seed", "faq.html"],
  ["out of memory", "troubleshooting.html"],
] as const) {
  test(`a search for "${words}" finds ${first} first`, async () => {
    const [best] = await search(words);
    assert.equal(best, new URL(first, host.url).pathname);
  });
}

test("the sidebar leaves out records of measurements and how the project is built", async () => {
  await page.goto(`${host.url}get-started.html`);
  const links = page.locator(".VPSidebar a");
  const addresses = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.ok(addresses.length > 40, `${addresses.length} links`);
  const odd = addresses.filter((one) => /evidence\/|\/(ci|supply-chain)\.html/.test(one ?? ""));
  assert.deepEqual(odd, []);
});

test("names in tables break behind a dot, a slash or an underscore alone", async () => {
  const phone = await browser.newPage({ viewport: { width: 390, height: 860 } });
  await phone.goto(`${host.url}options.html`);
  await phone.locator(".vp-doc td code").first().waitFor();
  const broken = await phone.locator(".vp-doc td code").evaluateAll((all) =>
    all.flatMap((code) => {
      const range = document.createRange();
      return [...code.childNodes].flatMap((node) => {
        if (node.nodeType !== Node.TEXT_NODE) return [];
        range.selectNodeContents(node);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        const text = node.textContent ?? "";
        return lines.size > 1 && /^[\w.]+$/.test(text) ? [text] : [];
      });
    }),
  );
  assert.deepEqual(broken, []);
  if (pictures !== undefined)
    await phone.screenshot({ path: join(pictures, "docs-options-390.png") });
  await phone.close();
});

test("npm run docs -- --serve answers with pages, and nothing above their folder", async () => {
  const { serve } = (await import(join(root, "docs/site/serve.mjs"))) as {
    serve(folder: string): Server;
  };
  const server = serve(site);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const at = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
  assert.match(await (await at("/")).text(), /<title>/);
  assert.equal((await at("/own.html")).headers.get("content-type"), "text/html; charset=utf-8");
  for (const path of ["/none.html", "/..%2f..%2fpackage.json"])
    assert.equal((await at(path)).status, 404, path);
  server.close();
});

test("pages fit a desktop and a phone, light and dark", async () => {
  for (const width of [1280, 390]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
      const one = await context.newPage();
      for (const name of ["index", "rollout", "config", "reference/rollout"]) {
        await one.goto(`${host.url}${name}.html`);
        await one.locator(".vp-doc h1").first().waitFor();
        assert.ok((await one.evaluate(() => document.documentElement.scrollWidth)) <= width, name);
        const file = `docs-${name.replace("/", "-")}-${width}-${colorScheme}.png`;
        if (pictures !== undefined) await one.screenshot({ path: join(pictures, file) });
      }
      await context.close();
    }
  }
});
