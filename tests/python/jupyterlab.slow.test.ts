// The real JupyterLab and Notebook 7 with our kernel: text, figures, the explorer, a widget both ways.
// ARPO_LAB_PYTHON names a Python with `notebook` and `anywidget` (JupyterLab comes along). Pictures go to
// ARPO_LAB_SCREENSHOTS where it is set.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { freePort } from "../free-port.js";
import { until } from "../until.js";
import { browserPath } from "../view/browser.js";

const python = process.env["ARPO_LAB_PYTHON"];
const root = fileURLToPath(new URL("../../../", import.meta.url));

function reasonToSkip(): string | false {
  if (python === undefined) return "ARPO_LAB_PYTHON names no Python";
  if (browserPath === undefined) return "there is no Chromium";
  const imports = "import notebook, jupyterlab, anywidget";
  const { status } = spawnSync(python, ["-c", imports]);
  return status === 0 ? false : `this Python cannot ${imports}`;
}
const skip = reasonToSkip();

const cells = {
  value: `const answer: number = 41;\nanswer + 1`,
  figure: `({ data: [{ x: [1, 2, 3], y: [2, 6, 3], type: "bar" }], layout: { title: { text: "Three bars" } } })`,
  explorer: `import { rollout } from "arpo-lab/rollout";
import { randomTextPolicy } from "arpo-lab/experimental/testing";
import { explore } from "arpo-lab/view";
const [tree] = await rollout(randomTextPolicy(), [{ prompt: "6*7?" }], { n: 8, initialRollouts: 4, seed: 1 });
explore(tree)`,
  widget: `import { widget } from "arpo-lab/kernel";
const counter = widget({
  esm: \`export default {
    render({ model, el }) {
      const button = document.createElement("button");
      const draw = () => { button.textContent = "count " + model.get("count") + ", kernel says " + model.get("tenfold"); };
      button.className = "counter";
      button.onclick = () => { model.set("count", model.get("count") + 1); model.save_changes(); };
      model.on("change:count", draw);
      model.on("change:tenfold", draw);
      draw();
      el.append(button);
    },
  }\`,
  state: { count: 0, tenfold: 0 },
});
counter.onChange(({ count }) => { if (count !== undefined) counter.set({ tenfold: 10 * count }); });
counter`,
  read: `counter.get("count")`,
  write: `counter.set({ count: 40 }); "set"`,
  html: `import { display } from "arpo-lab/kernel";
display.html("<b id='bold'>shown once</b>")`,
  error: `const wrong: string = answer;`,
};
type CellName = keyof typeof cells;
const notebook = {
  cells: Object.entries(cells).map(([id, source]) => ({
    cell_type: "code",
    execution_count: null,
    id,
    metadata: {},
    outputs: [],
    source,
  })),
  metadata: {
    kernelspec: { name: "arpo-lab", display_name: "TypeScript (arpo-lab)", language: "typescript" },
  },
  nbformat: 4,
  nbformat_minor: 5,
};

const folder = mkdtempSync(join(tmpdir(), "arpo-jupyter-"));
const pictures = process.env["ARPO_LAB_SCREENSHOTS"] ?? join(folder, "screenshots");
const token = "for-this-test-only";
let port = 0;
let server: ChildProcess | undefined;
let browser: Browser | undefined;
let log = "";

before(async () => {
  if (skip !== false) return;
  mkdirSync(pictures, { recursive: true });
  const prefix = join(folder, "prefix");
  const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
  const install = spawnSync(process.execPath, [bin, "kernel", "install", "--prefix", prefix]);
  assert.equal(install.status, 0, install.stderr.toString());
  const notebooks = join(folder, "notebooks");
  mkdirSync(notebooks);
  for (const name of ["lab", "notebook"]) {
    writeFileSync(join(notebooks, `${name}.ipynb`), JSON.stringify(notebook));
  }
  port = await freePort();
  const options = [
    "--no-browser",
    "--allow-root",
    `--ServerApp.port=${port}`,
    `--IdentityProvider.token=${token}`,
    `--ServerApp.root_dir=${notebooks}`,
  ];
  server = spawn(python!, ["-m", "notebook", ...options], {
    env: {
      ...process.env,
      JUPYTER_PATH: join(prefix, "share", "jupyter"),
      JUPYTER_CONFIG_DIR: join(folder, "config"),
      JUPYTER_RUNTIME_DIR: join(folder, "runtime"),
      JUPYTER_DATA_DIR: join(folder, "data"),
      JUPYTERLAB_WORKSPACES_DIR: join(folder, "workspaces"),
      JUPYTERLAB_SETTINGS_DIR: join(folder, "settings"),
      ARPO_LAB_DATA: join(folder, "arpo"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  }
  await until(async () => {
    assert.equal(server?.exitCode, null, log);
    return fetch(`http://127.0.0.1:${port}/api?token=${token}`).then(
      (answer) => answer.ok,
      () => false,
    );
  }, "the server to answer");
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  if (server !== undefined && server.exitCode === null) {
    const ended = new Promise((done) => server?.once("exit", done));
    server.kill("SIGTERM"); // its kernels end with it
    await ended;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

async function drive(page: Page, app: string): Promise<void> {
  const cell = (name: CellName): string =>
    `.jp-Notebook .jp-Cell:nth-child(${Object.keys(cells).indexOf(name) + 1} of .jp-Cell)`;
  const picture = async (name: string): Promise<void> =>
    void (await page.screenshot({ path: join(pictures, `${app}-${name}.png`) }));
  const run = async (name: CellName): Promise<string> => {
    const ran = page.locator(`${cell(name)} .jp-InputPrompt`, { hasText: /\[[*\d]+\]/ });
    // A page that has only just opened may take the focus away again.
    while ((await ran.count()) === 0) {
      await page.click(`${cell(name)} .jp-InputArea-editor .cm-content`);
      await page.keyboard.press("Control+Enter");
      await ran.waitFor({ timeout: 3000 }).catch(() => undefined);
    }
    const output = page.locator(`${cell(name)} .jp-OutputArea-output`).first();
    await output.waitFor();
    return (await output.textContent()) ?? "";
  };
  await page.waitForSelector(`${cell("value")} .cm-content`);
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  // The page says idle before it has a kernel, and asks for one if a cell is run then.
  const sessions = `http://127.0.0.1:${port}/api/sessions?token=${token}`;
  await until(async () => {
    const all = (await (await fetch(sessions)).json()) as {
      path: string;
      kernel: { execution_state: string };
    }[];
    return all.some(
      ({ path, kernel }) => path === `${app}.ipynb` && kernel.execution_state === "idle",
    );
  }, "the notebook's kernel to be idle");
  assert.equal((await run("value")).trim(), "42");
  await run("figure");
  await page.waitForSelector(`${cell("figure")} .js-plotly-plot .main-svg`);
  await page.locator(cell("figure")).scrollIntoViewIfNeeded();
  await picture("figure");
  await run("explorer");
  await page.waitForSelector(`${cell("explorer")} .arpo-explorer`);
  await page.locator(`${cell("explorer")} .jp-OutputArea`).scrollIntoViewIfNeeded();
  await picture("explorer");

  await run("widget");
  const button = page.locator(`${cell("widget")} button.counter`);
  await button.click();
  await button.click();
  await page.waitForFunction(
    () => document.querySelector("button.counter")?.textContent === "count 2, kernel says 20",
  );
  assert.equal((await run("read")).trim(), "2");
  await run("write");
  await page.waitForFunction(() =>
    document.querySelector("button.counter")?.textContent?.startsWith("count 40,"),
  );
  await picture("widget");
  assert.equal((await run("html")).trim(), "shown once");
  assert.equal(await page.locator(`${cell("html")} .jp-OutputArea-output`).count(), 1);
  assert.match(await run("error"), /Type 'number' is not assignable to type 'string'/);
  await picture("end");
}

/** What Notebook 7.6 has to complain of in itself, whatever the kernel. */
const ofNotebook = /Command 'filebrowser:open-path' not registered|\(reading 'schema'\)/;

for (const [app, path] of [
  ["lab", "lab/tree/lab.ipynb"],
  ["notebook", "notebooks/notebook.ipynb"],
] as const) {
  test(`the real ${app} shows values, figures, the explorer and a widget`, { skip }, async () => {
    const page = await browser!.newPage({ viewport: { width: 1280, height: 1600 } });
    const errors: string[] = [];
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
    try {
      await page.goto(`http://127.0.0.1:${port}/${path}?token=${token}`);
      await drive(page, app);
      assert.deepEqual(
        errors.filter((error) => !ofNotebook.test(error)),
        [],
      );
    } catch (error) {
      await page.screenshot({ path: join(pictures, `${app}-failed.png`) });
      throw error;
    } finally {
      await page.close();
    }
  });
}
