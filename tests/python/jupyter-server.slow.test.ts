// Our server beside jupyter_server: the same questions, its schema, its gateway client; and a notebook edited
// in our page, read by nbformat and opened by the real JupyterLab.
// ARPO_LAB_PYTHON names a Python with `jupyterlab`.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { LabServer } from "../../kernel/server/lab-server.js";
import { freePort } from "../free-port.js";
import { BrowserLab, codeCell, noBrowser, notebookFile } from "../lab/browser-lab.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_PYTHON"];
const root = fileURLToPath(new URL("../../../", import.meta.url));
const script = (name: string): string => join(root, "tests/python", name);
const run = promisify(execFile);

function reasonToSkip(): string | false {
  if (python === undefined) return "ARPO_LAB_PYTHON names no Python";
  const imports = "import jupyter_server, jupyterlab, nbformat, jsonschema, yaml, websocket";
  const { status } = spawnSync(python, ["-c", imports]);
  return status === 0 ? false : `this Python cannot ${imports}`;
}
const skip = reasonToSkip();
const skipPage = skip !== false ? skip : noBrowser;

const folder = mkdtempSync(join(tmpdir(), "beside-jupyter-"));
const files = join(folder, "files");
const theirFiles = join(folder, "their-files");
const token = "for-this-test-only";
let port = 0;
let jupyter: ChildProcess | undefined;
let log = "";
let server: LabServer;

function makeFiles(): void {
  mkdirSync(join(files, "folder"), { recursive: true });
  writeFileSync(join(files, "a.txt"), "text\n");
  writeFileSync(join(files, "bytes.bin"), Buffer.from([0, 255, 254, 1]));
  writeFileSync(join(files, ".hidden.txt"), "hidden\n");
  writeFileSync(join(files, "folder", "ä b.txt"), "umlaut\n");
  writeFileSync(join(files, "broken.ipynb"), "{");
  const cell = { ...codeCell("one", "1 + 1") };
  const notebook = { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 };
  writeFileSync(join(files, "one.ipynb"), JSON.stringify(notebook));
  cpSync(files, theirFiles, { recursive: true });
}

before(async () => {
  if (skip !== false) return;
  makeFiles();
  const prefix = join(folder, "prefix");
  const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
  const install = spawnSync(process.execPath, [bin, "kernel", "install", "--prefix", prefix]);
  assert.equal(install.status, 0, install.stderr.toString());
  port = await freePort();
  const options = [
    "--no-browser",
    "--allow-root",
    `--ServerApp.port=${port}`,
    `--IdentityProvider.token=${token}`,
    `--ServerApp.root_dir=${theirFiles}`,
    "--FileContentsManager.delete_to_trash=False",
  ];
  jupyter = spawn(python!, ["-m", "jupyterlab", ...options], {
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
  for (const stream of [jupyter.stdout, jupyter.stderr]) {
    stream?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  }
  await until(async () => {
    assert.equal(jupyter?.exitCode, null, log);
    return fetch(`http://127.0.0.1:${port}/api?token=${token}`).then(
      (answer) => answer.ok,
      () => false,
    );
  }, "the server to answer");
  server = await LabServer.start({ folder: files });
});

after(async () => {
  if (skip === false) await server.stop();
  if (jupyter !== undefined && jupyter.exitCode === null) {
    const ended = new Promise((done) => jupyter?.once("exit", done));
    jupyter.kill("SIGTERM"); // its kernels end with it
    await ended;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

/** Runs a script of this folder and gives what it says; fails with that where the script fails. */
async function check(name: string, args: string[]): Promise<string> {
  try {
    return (await run(python!, [script(name), ...args], { timeout: 280_000 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    assert.fail(`${stdout}\n${stderr.slice(-3000)}`);
  }
}

test("our server answers as jupyter_server does, and as its schema says", { skip }, async () => {
  const theirs = `http://127.0.0.1:${port}/`;
  const said = await check("check_rest.py", [server.url, server.token, theirs, token]);
  assert.match(said, /requests, 0 differ/);
});

test("jupyter_server's gateway client drives kernels on our server", { skip }, async () => {
  const culling = await LabServer.start({ folder: files, cullIdle: 1 });
  try {
    const args = [server.url, server.token, culling.url, culling.token];
    assert.match(await check("check_gateway.py", args), /gateway ok/);
  } finally {
    await culling.stop();
  }
});

test(
  "a notebook saved in our page is nbformat's, and JupyterLab does not change it",
  {
    skip: skipPage,
  },
  async () => {
    const markdown = { cell_type: "markdown", id: "m", metadata: {}, source: "# A ü *title*" };
    const figure = `({ data: [{ x: [1, 2], y: [2, 1] }], layout: { title: { text: "one" } } })`;
    const lab = await BrowserLab.start({
      "saved.ipynb": notebookFile([
        markdown,
        codeCell("a", "0"),
        codeCell("b", figure),
        codeCell("c", "x.y"),
      ]),
    });
    try {
      const tab = await lab.tab();
      await tab.open("saved.ipynb");
      await tab.edit(2, 'console.log("printed\\nümlaut"); 6 * 7');
      for (const n of [2, 3, 4]) await tab.run(n);
      await tab.output(2, "42");
      await tab.page.waitForSelector(`${tab.cell(3)} .js-plotly-plot .main-svg`);
      await tab.output(4, "x");
      await tab.idle();
      await tab.save();
      const place = join(lab.folder, "saved.ipynb");
      const saved = readFileSync(place, "utf8");
      const reads = `import sys, nbformat
text = open(sys.argv[1], encoding="utf-8", newline="").read()
notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
nbformat.validate(notebook)
assert [c.cell_type for c in notebook.cells] == ["markdown", "code", "code", "code"]
assert [o.output_type for o in notebook.cells[1].outputs] == ["stream", "execute_result"]
assert nbformat.writes(notebook) + "\\n" == text or nbformat.writes(notebook) == text
print("valid")`;
      assert.match((await run(python!, ["-c", reads, place])).stdout, /valid/);

      cpSync(place, join(theirFiles, "saved.ipynb"));
      const page = await lab.context.newPage();
      page.setDefaultTimeout(120_000);
      await page.goto(`http://127.0.0.1:${port}/lab/tree/saved.ipynb?token=${token}`);
      await page.waitForSelector(".jp-Notebook .jp-CodeCell .cm-content");
      const indicator = '.jp-Notebook-ExecutionIndicator[data-status="idle"]';
      await page.waitForSelector(indicator, { state: "attached" });
      await page.waitForSelector(".jp-Notebook .jp-RenderedMarkdown h1");
      // Nothing is to be saved: opening it changed nothing. Saved all the same, it has the same bytes.
      await page.waitForTimeout(2000);
      assert.equal(await page.locator(".lm-DockPanel .jp-mod-dirty").count(), 0, "not dirty");
      await page.click(".jp-Notebook .jp-Cell:nth-child(1) .jp-InputPrompt");
      const written = page.waitForResponse(
        (answer) => answer.request().method() === "PUT" && answer.url().includes("saved.ipynb"),
      );
      await page.keyboard.press("Control+s");
      await written;
      assert.equal(readFileSync(join(theirFiles, "saved.ipynb"), "utf8"), saved);
      await page.close();
    } finally {
      await lab.stop();
    }
  },
);
