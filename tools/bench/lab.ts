// How fast the lab is in a browser: npm run bench -- lab [--build]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { buildPage } from "../../kernel/server/build-page.js";
import { LabServer } from "../../kernel/server/lab-server.js";
import type { Figure } from "./figure.js";

const executable = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const bin = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
const cells = 200;
const drawn = 50;
const runs = 40;

const code = (id: string, source: string, outputs: unknown[] = []): unknown => ({
  cell_type: "code",
  execution_count: null,
  id,
  metadata: {},
  outputs,
  source,
});
const notebook = (all: unknown[]): string =>
  JSON.stringify({
    cells: all,
    metadata: {
      kernelspec: {
        name: "arpo-lab",
        display_name: "TypeScript (arpo-lab)",
        language: "typescript",
      },
      language_info: { name: "typescript" },
    },
    nbformat: 4,
    nbformat_minor: 5,
  });
const figure = (seed: number): unknown => ({
  output_type: "display_data",
  metadata: {},
  data: {
    "application/vnd.plotly.v1+json": {
      data: [{ y: Array.from({ length: 500 }, (_, i) => Math.sin((i + seed) / 20)) }],
      layout: { height: 300 },
    },
    "text/plain": "a figure",
  },
});
const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const painted = ".jp-Notebook .jp-CodeCell .cm-content";
const idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]';

async function open(page: Page, server: LabServer, name: string): Promise<number> {
  const since = performance.now();
  const place = `lab/workspaces/${name}/tree/${name}.ipynb`;
  await page.goto(`${server.url}${place}?token=${server.token}`, { waitUntil: "commit" });
  await page.waitForSelector(painted);
  return performance.now() - since;
}

/**
 * From `npm start` (the command that it runs) in a shell, with a browser that is open, to the first cell
 * on the screen.
 */
async function startAndPaint(files: string, profile: string): Promise<number> {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    args: ["--no-sandbox"],
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const since = performance.now();
  const lab = spawn(process.execPath, [bin, "lab", "--no-browser", "--dir", files], {
    env: { ...process.env, ARPO_LAB_DATA: join(profile, "data") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => lab.once("close", done));
  try {
    let text = "";
    const address = await new Promise<string>((found, failed) => {
      lab.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const match = /^http:\S+(?=\n)/m.exec(text);
        if (match !== null) found(match[0]);
      });
      void ended.then(() => failed(new Error(`the lab ended: ${text}`)));
    });
    await page.goto(address.replace("/lab?", "/lab/tree/small.ipynb?"), { waitUntil: "commit" });
    await page.waitForSelector(painted);
    const time = performance.now() - since;
    await page.waitForSelector(idle);
    return time;
  } finally {
    await context.close();
    lab.kill("SIGTERM");
    await ended;
  }
}

/** From the key press to the output, as the page itself sees it. */
async function roundTrip(page: Page): Promise<number> {
  return await page.evaluate(
    async () =>
      await new Promise<number>((done) => {
        const area = document.querySelector(".jp-CodeCell .jp-Cell-outputArea")!;
        const before = area.textContent;
        let since = 0;
        new MutationObserver((_, observer) => {
          if (area.textContent === before || area.textContent === "") return;
          observer.disconnect();
          requestAnimationFrame(() => done(performance.now() - since));
        }).observe(area, { childList: true, subtree: true, characterData: true });
        since = performance.now();
        const { jupyterapp } = window as unknown as {
          jupyterapp: { commands: { execute(id: string): Promise<void> } };
        };
        void jupyterapp.commands.execute("notebook:run-cell");
      }),
  );
}

/** Milliseconds between frames while `act` goes on. */
async function frames(page: Page, act: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const seen: number[] = [];
    let last = performance.now();
    const frame = (now: number): void => {
      seen.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    Object.assign(window, { frames_: seen });
  });
  await act();
  return await page.evaluate(() => (window as unknown as { frames_: number[] }).frames_);
}

/** Figures of the lab; with `--build` also how long its page takes to build, packages fetched anew. */
export async function* figures(args: string[]): AsyncGenerator<Figure> {
  if (!existsSync(executable)) throw new Error(`Cannot measure the lab: there is no ${executable}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-lab-"));
  if (args.includes("--build")) {
    const kept = process.env["ARPO_LAB_CACHE"];
    process.env["ARPO_LAB_CACHE"] = join(folder, "cache");
    const since = performance.now();
    await buildPage();
    yield { name: "lab.build", value: (performance.now() - since) / 1000, unit: "s" };
    if (kept === undefined) delete process.env["ARPO_LAB_CACHE"];
    else process.env["ARPO_LAB_CACHE"] = kept;
  }
  const files = mkdtempSync(join(folder, "files-"));
  writeFileSync(join(files, "small.ipynb"), notebook([code("a", "Math.random()")]));
  const many = Array.from({ length: cells }, (_, i) =>
    code(`c${i}`, `const x${i} = ${i};`, i % (cells / drawn) === 0 ? [figure(i)] : []),
  );
  writeFileSync(join(files, "large.ipynb"), notebook(many));
  const print =
    "const line = 'x'.repeat(99);\nconst end = Date.now() + 5000;\nwhile (Date.now() < end) {\n" +
    "  for (let i = 0; i < 1000; i++) console.log(line);\n  await new Promise((r) => setTimeout(r, 100));\n}";
  writeFileSync(join(files, "print.ipynb"), notebook([code("a", print), code("b", "")]));
  await buildPage();
  const profile = join(folder, "profile");
  yield { name: "lab.paint.first", value: await startAndPaint(files, profile), unit: "ms" };
  // Browsers keep what they compiled of a script when it was used a second time.
  await startAndPaint(files, profile);
  yield { name: "lab.paint.second", value: await startAndPaint(files, profile), unit: "ms" };
  const server = await LabServer.start({ folder: files, page: await buildPage() });
  const browser = await chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const unit = "ms";
    await open(page, server, "small");
    await page.waitForSelector(idle);
    await page.click(painted);
    await page.keyboard.press("Escape");
    for (let i = 0; i < 5; i++) await roundTrip(page);
    const trips: number[] = [];
    for (let i = 0; i < runs; i++) trips.push(await roundTrip(page));
    yield { name: "lab.cell.p50", value: median(trips), unit };
    yield {
      name: "lab.cell.p95",
      value: trips.toSorted((a, b) => a - b)[Math.floor(0.95 * runs)]!,
      unit,
    };
    const large = await context.newPage();
    large.setDefaultTimeout(120_000);
    yield { name: "lab.open.200", value: await open(large, server, "large"), unit };
    await large.waitForSelector(idle);
    const scrolled = await frames(large, async () => {
      await large.hover(".jp-Notebook");
      for (let i = 0; i < 60; i++) {
        await large.mouse.wheel(0, 300);
        await large.waitForTimeout(30);
      }
    });
    yield { name: "lab.scroll.frame.p50", value: median(scrolled), unit };
    yield {
      name: "lab.scroll.frame.p95",
      value: scrolled.toSorted((a, b) => a - b)[Math.floor(0.95 * scrolled.length)]!,
      unit,
    };
    await large.close();
    const printing = await context.newPage();
    await open(printing, server, "print");
    await printing.waitForSelector(idle);
    await printing.click(`${painted} >> nth=0`);
    await printing.keyboard.press("Shift+Enter"); // the next cell is chosen without a click
    await printing.keyboard.press("Enter");
    await printing.waitForSelector(".jp-OutputArea-output");
    const typed: number[] = [];
    const during = await frames(printing, async () => {
      for (let i = 0; i < 20; i++) {
        const since = performance.now();
        await printing.keyboard.type("x");
        const length = i + 1;
        await printing.waitForFunction(
          (n) => document.querySelectorAll(".cm-content")[1]?.textContent.length === n,
          length,
          { polling: "raf" },
        );
        typed.push(performance.now() - since);
        await printing.waitForTimeout(150);
      }
    });
    yield { name: "lab.printing.key.p50", value: median(typed), unit };
    yield { name: "lab.printing.frame.max", value: Math.max(...during), unit };
  } finally {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
