// The lab in a browser tab: what is fetched and how long it takes until a reader sees something, and the engine
// beside Node's: npm run bench -- tab
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { writeSite } from "../../apps/site/write/write-site.js";
import { asTabBrowser, chromiumPath, launchChromium } from "../../tests/tab/browsers/chromium.js";
import { type Lab, patience, ready, runAbove, shown } from "../../tests/tab/lab-page.js";
import { inNode, inTab } from "../../tests/tab/lab-work.js";
import { StaticHost } from "../../tests/tab/static-host.js";
import type { Figure } from "./figure.js";

const visits = 3;
const rounds = 3;

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Runs the first lesson as a visitor does, until its tree is there. */
async function firstRollout(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const { commands, shell } = (globalThis as unknown as Lab).jupyterapp;
    const { content } = shell.currentWidget;
    const { cells } = content.model.toJSON() as { cells: { id?: string }[] };
    const last = cells.findIndex(({ id }) => id === "tree");
    for (let at = 0; at <= last; at++) {
      content.activeCellIndex = at;
      await commands.execute("notebook:run-cell");
    }
  });
  await page.waitForSelector(".jp-OutputArea .arpo-explorer canvas", { timeout: 10 * patience });
}

/** Whether something was fetched for Python, which begins when the page is idle. */
const isPython = (url: string): boolean => /\/python\/|\/python-(frame|worker)/.test(url);

interface Moment {
  name: string;
  seconds: number;
  megabytes: number;
  requests: number;
  python: number;
}

/** A first visit, or a second one: a browser that has nothing, on a host that compresses. */
async function visit(browser: Browser, host: StaticHost, again: boolean): Promise<Moment[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    if (again) {
      const before = await context.newPage();
      await before.goto(`${host.url}lab.html`);
      await ready(before);
      await firstRollout(before);
      await before.close();
    }
    host.visits.splice(0);
    const page = await context.newPage();
    const since = performance.now();
    const moment = (name: string): Moment => {
      const [python, other] = [true, false].map((want) =>
        host.visits.filter(({ url }) => isPython(url) === want),
      ) as [typeof host.visits, typeof host.visits];
      const megabytes = (of: typeof other) => of.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
      return {
        name,
        seconds: (performance.now() - since) / 1000,
        megabytes: megabytes(other),
        requests: other.length,
        python: megabytes(python),
      };
    };
    await page.goto(`${host.url}lab.html`, { waitUntil: "commit" });
    await shown(page, "founding year of Lerum");
    const painted = moment("painted");
    await ready(page);
    await runAbove(page, "`${1 + 1} is two`");
    await shown(page, "2 is two");
    const cell = moment("cell");
    await firstRollout(page);
    return [painted, cell, moment("rollout")];
  } finally {
    await context.close();
  }
}

/** Figures of the lab in a tab; megabytes are 10^6 bytes of bodies, as a host sends them by gzip. */
export async function* figures(): AsyncGenerator<Figure> {
  if (!existsSync(chromiumPath))
    throw new Error(`Cannot measure a tab: there is no ${chromiumPath}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-tab-"));
  const browser = await launchChromium();
  try {
    await writeSite({ out: folder });
    // One for all visits: what it has compressed once it need not compress again, as real hosts.
    const host = await StaticHost.start(folder, { compress: true });
    for (const again of [false, true]) {
      const seen: Moment[][] = [];
      for (let i = 0; i < visits; i++) seen.push(await visit(browser, host, again));
      for (const [at, { name: what }] of seen[0]!.entries()) {
        const name = `tab.${again ? "again" : "first"}.${what}`;
        const of = (key: Exclude<keyof Moment, "name">) =>
          median(seen.map((moments) => moments[at]![key]));
        yield { name: `${name}.megabytes`, value: of("megabytes"), unit: "MB" };
        yield { name: `${name}.python`, value: of("python"), unit: "MB" };
        yield { name: `${name}.requests`, value: of("requests"), unit: "requests" };
        yield { name: `${name}.time`, value: of("seconds"), unit: "s" };
      }
    }
    host.stop();
    const times = { tab: [], relaxed: [], wasm: [], native: [] } as Record<
      "tab" | "relaxed" | "wasm" | "native",
      { rollout: number; updates: number }[]
    >;
    // In turns: what else the machine does then troubles all of them.
    for (let round = 0; round < rounds; round++) {
      times.tab.push((await inTab(asTabBrowser(browser), true, 2)).hashes.ms);
      const relaxed = await inTab(asTabBrowser(browser), true, 2, "wasm-relaxed");
      times.relaxed.push(relaxed.hashes.ms);
      times.wasm.push(inNode(2).ms);
      times.native.push(inNode(2, "native").ms);
    }
    const compare = (
      part: "rollout" | "updates",
      ours: "tab" | "relaxed",
      baseline: "tab" | "wasm" | "native",
    ) => ({
      value: median(times[ours].map((ms) => ms[part])),
      unit: "ms",
      baselineValue: median(times[baseline].map((ms) => ms[part])),
      ratio: median(times[ours].map((ms, i) => ms[part] / times[baseline][i]![part])),
    });
    for (const part of ["rollout", "updates"] as const) {
      for (const baseline of ["wasm", "native"] as const) {
        yield {
          name: `tab.engine.${part}.${baseline}`,
          ...{ backend: "wasm", baseline: `Node ${baseline}`, ...compare(part, "tab", baseline) },
        };
      }
      yield {
        name: `tab.engine.${part}.relaxed`,
        ...{ backend: "wasm-relaxed", baseline: "tab wasm", ...compare(part, "relaxed", "tab") },
      };
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
