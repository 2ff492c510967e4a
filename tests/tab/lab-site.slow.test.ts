import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { deflateRawSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { writeSite } from "../../apps/site/write/write-site.js";
import { until } from "../until.js";
import { launchChromium } from "./browsers/chromium.js";
import {
  command,
  type Lab,
  newNotebook,
  openLab,
  patience,
  ready,
  runAbove,
  runCell,
  shown,
} from "./lab-page.js";
import { StaticHost } from "./static-host.js";

const pictures = process.env["ARPO_LAB_SCREENSHOTS"];

const folder = mkdtempSync(join(tmpdir(), "site-"));
let browser: Browser;
let context: BrowserContext;
let host: StaticHost;
let page: Page;
const errors: string[] = [];

const open = (address: string, of = context): Promise<Page> => openLab(of, address, errors);

async function picture(name: string, of = page): Promise<void> {
  if (pictures !== undefined) await of.screenshot({ path: join(pictures, `${name}.png`) });
}

before(async () => {
  await writeSite({ out: folder });
  host = await StaticHost.start(folder);
  browser = await launchChromium();
  context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
});
after(async () => {
  await browser.close();
  host.stop();
  rmSync(folder, { recursive: true });
});

test("a link opens the first lesson with its outputs, isolated, on a host without headers below a path", async () => {
  page = await open(`${host.url}lab.html`);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.match(page.url(), /\/some-repo\/lab\/tree\/notebooks\/00-tour\.ipynb/);
  await shown(page, "founding year of Lerum");
  await picture("tab-desktop");
});

test("the first lesson's outputs are painted before a thread of its kernel has begun", async () => {
  const release = host.hold(/\/scripts\/(compiler|cells)\.js/);
  const reader = await browser.newContext();
  try {
    const opened = await open(`${host.url}lab.html`, reader);
    await shown(opened, "founding year of Lerum");
    const run = runAbove(opened, "`${20 + 23} at last`");
    assert.equal(await opened.getByText("43 at last").count(), 0);
    release();
    await run;
    await shown(opened, "43 at last");
  } finally {
    release();
    await reader.close();
  }
});

let path: string;
test("a new notebook's first cell shows its value, even before its kernel is there", async () => {
  path = await newNotebook(page);
  await runCell(page, "const x: number = 20; x + 22");
  await shown(page, "42");
  assert.deepEqual(errors, []);
});

test("a cell of the site runs Python", async () => {
  const python = 'import { pythonTool } from "arpo-lab/tools"; const python = pythonTool();';
  await runCell(page, `${python} (await python.pool.run("print(6 * 7, 'from Python')")).text`);
  await shown(page, "42 from Python");
});

test("what was written is there after a reload, at its own address", async () => {
  // Not by the command: of a new notebook it asks the name.
  await page.evaluate(() =>
    (globalThis as unknown as Lab).jupyterapp.shell.currentWidget.context.save(),
  );
  await page.goto(`${host.url}lab/tree/${path}`);
  await ready(page);
  await shown(page, "42 from Python");
});

test("a notebook is downloaded and put into another visit's lab", async () => {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    command(page, "docmanager:download"),
  ]);
  const file = join(folder, "..", `${Math.random().toString(36).slice(2)}.ipynb`);
  await download.saveAs(file);
  try {
    assert.match(readFileSync(file, "utf8"), /from Python/);
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.locator('[data-command="filebrowser:upload"], [title^="Upload Files"]').first().click(),
    ]);
    await chooser.setFiles(file);
    await page
      .locator(".jp-DirListing-item")
      .filter({ hasText: file.replace(/^.*\//, "") })
      .waitFor();
  } finally {
    rmSync(file);
  }
});

test("a link holds a notebook's cells, and opens them in anybody's browser", async () => {
  const link = (await command(page, "arpo-lab:share-link")) as string;
  assert.ok(link.startsWith(`${host.url}lab.html#notebook=`), link);
  const other = await browser.newContext();
  try {
    const reader = await open(link, other);
    assert.match(reader.url(), /lab\/tree\/shared\/\w+\.ipynb$/);
    const [cell] = await reader.evaluate(
      () =>
        (globalThis as unknown as Lab).jupyterapp.shell.currentWidget.content.model.toJSON().cells,
    );
    assert.match(cell!.source, /from Python/);
    assert.deepEqual(cell!.outputs, []);
  } finally {
    await other.close();
  }
});

test("a second tab reads, and says so; it takes over when it is told to", async () => {
  const other = await open(`${host.url}lab.html`);
  await other.getByText("open in another tab").waitFor();
  await other.getByRole("button", { name: "Take over" }).click();
  await page.getByText("open in another tab").waitFor();
  await other.getByText("open in another tab").waitFor({ state: "hidden" });
  await other.close();
});

test("all that a reader made is downloaded as one zip, and put into another visit's lab", async () => {
  const other = await browser.newContext();
  const file = join(folder, "..", `${Math.random().toString(36).slice(2)}.zip`);
  try {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      command(page, "arpo-lab:download-folder"),
    ]);
    await download.saveAs(file);
    const reader = await open(`${host.url}lab.html`, other);
    const upload = async (): Promise<void> => {
      const [chooser] = await Promise.all([
        reader.waitForEvent("filechooser"),
        reader.evaluate(() => {
          const { commands } = (globalThis as unknown as Lab).jupyterapp;
          void commands.execute("arpo-lab:upload-folder");
        }),
      ]);
      await chooser.setFiles(file);
    };
    await upload();
    await reader.getByText("Put back:").waitFor();
    await reader.goto(`${host.url}lab/tree/${path}`);
    await ready(reader);
    await shown(reader, "42 from Python");
    await runCell(reader, "'changed since'");
    await shown(reader, "changed since");
    await reader.evaluate(() =>
      (globalThis as unknown as Lab).jupyterapp.shell.currentWidget.context.save(),
    );
    await upload();
    await reader.locator(".jp-Dialog").getByText("Already there, and not the same").waitFor();
    await reader.getByRole("button", { name: "Replace" }).click();
    await reader.getByText("Put back:").waitFor();
    writeFileSync(file, readFileSync(file).subarray(0, 400));
    await upload();
    await reader.locator(".jp-Dialog").getByText("Cannot read").waitFor();
  } finally {
    await other.close();
    rmSync(file, { force: true });
  }
});

test("a link that was cut or changed, or holds far too much, is told in one sentence", async () => {
  const link = (await command(page, "arpo-lab:share-link")) as string;
  const [before, letters] = link.split("#notebook=") as [string, string];
  const bomb = deflateRawSync(JSON.stringify(["big.ipynb", [["code", " ".repeat(9e6)]]]));
  const wrong = deflateRawSync(JSON.stringify({ cells: 1 }));
  const cut = /^Cannot open the notebook in this link: the link must be whole/;
  for (const [damaged, says] of [
    [letters.slice(0, letters.length / 2), cut],
    [`${letters.slice(0, 20)}%${letters.slice(21)}`, cut],
    [wrong.toString("base64url"), cut],
    [bomb.toString("base64url"), /^Cannot open the notebook in this link: .* at most 4 MB$/],
  ] as const) {
    const opened = await context.newPage();
    const told: string[] = [];
    opened.on("dialog", (dialog) => {
      told.push(dialog.message());
      void dialog.accept();
    });
    await opened.goto(`${before}#notebook=${damaged}`);
    await ready(opened);
    assert.equal(told.length, 1);
    assert.match(told[0]!, says);
    assert.match(opened.url(), /00-tour\.ipynb$/);
    await opened.close();
  }
});

test("what the menus lead to is there", async () => {
  const gone: string[] = [];
  context.on("response", (answer) => {
    const { pathname } = new URL(answer.url());
    if (pathname.startsWith("/some-repo/") && answer.status() >= 400) gone.push(pathname);
  });
  for (const name of ["arpo-lab:documentation", "arpo-lab:reference"]) {
    const [help] = await Promise.all([context.waitForEvent("page"), command(page, name)]);
    await help.locator("h1").first().waitFor();
    assert.ok(help.url().startsWith(`${host.url}docs/`), help.url());
    await help.close();
  }
  assert.deepEqual(gone, []);
  assert.deepEqual(
    host.visits.filter(({ url, status }) => url.startsWith("/some-repo/") && status >= 400),
    [],
  );
});

test("without a network the lab opens again, and new cells answer with what nobody had asked for", async () => {
  const kept = `${host.url}offline.json?done`;
  await until(
    () => page.evaluate(async (address) => (await caches.match(address)) !== undefined, kept),
    "all is kept",
    5 * patience,
  );
  await context.setOffline(true);
  try {
    await page.goto(`${host.url}lab/tree/${path}`);
    await ready(page);
    await shown(page, "42 from Python");
    await newNotebook(page);
    await runCell(
      page,
      'import { pythonTool } from "arpo-lab/tools"; const python = pythonTool(); [(await python.pool.run("print(6 * 8)")).text, new Map([[1, "a"]])]',
    );
    await shown(page, "48");
    await newNotebook(page);
    await runCell(
      page,
      'import { Policy } from "arpo-lab"; const { tokenizer } = await Policy.load("../data/models/tiny"); `${tokenizer.vocabSize} words`',
    );
    await shown(page, /\d+ words/);
  } finally {
    await context.setOffline(false);
  }
});

test("where no service worker may be, cells run, and the page says what cannot be", async () => {
  const withheld = await browser.newContext();
  // As in a private window of some browsers.
  await withheld.addInitScript(() => {
    Object.defineProperty(navigator.serviceWorker, "register", {
      value: () => Promise.reject(new DOMException("refused", "SecurityError")),
    });
  });
  try {
    const plain = await open(`${host.url}lab.html`, withheld);
    assert.equal(await plain.evaluate(() => crossOriginIsolated), false);
    await plain.getByText("No service worker here").waitFor();
    await newNotebook(plain);
    await runCell(plain, "const y: number = 20; `${y + 23} without`");
    await shown(plain, "43 without");
  } finally {
    await withheld.close();
  }
});

test("a reader may choose faster arithmetic, which stays chosen, and take it back", async () => {
  const other = await browser.newContext();
  try {
    const reader = await open(`${host.url}lab.html`, other);
    /** What was open before is open again, and nothing comes to the front any more. */
    const restored = async (): Promise<void> => {
      await ready(reader);
      await reader.evaluate(() => (globalThis as unknown as Lab).jupyterapp.restored);
    };
    const choose = async (): Promise<void> => {
      const again = reader.waitForEvent("load");
      const asked = command(reader, "arpo-lab:relaxed-arithmetic").catch(() => undefined);
      await reader.getByText("kernels start anew").waitFor();
      await picture("tab-arithmetic", reader);
      await reader.locator(".jp-Dialog button.jp-mod-accept").click();
      await Promise.all([asked, again]);
      await restored();
    };
    const computesOn = async (backend: string): Promise<void> => {
      await newNotebook(reader);
      const code = 'import { ready } from "arpo-lab/model"; `computes on ${await ready()}.`';
      await runCell(reader, code);
      await shown(reader, `computes on ${backend}.`);
    };
    await computesOn("wasm");
    await choose();
    await computesOn("wasm-relaxed");
    await command(reader, "docmanager:save-all");
    await reader.goto(`${host.url}lab.html`);
    await restored();
    await computesOn("wasm-relaxed");
    await choose();
    await computesOn("wasm");
  } finally {
    await other.close();
  }
});

test("the explorer's page is part of the site", async () => {
  const explorer = await context.newPage();
  await explorer.goto(`${host.url}explore.html`);
  await explorer.locator("#examples button").first().click();
  await explorer.locator("#shown").waitFor();
  await picture("tab-explorer", explorer);
  await explorer.close();
});
