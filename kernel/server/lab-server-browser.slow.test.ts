import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPage } from "./build-page.js";
import { LabServer } from "./lab-server.js";
import { temporaryFolder } from "../../tests/temporary.js";

// Debian's Chromium, or the one that CHROMIUM names. Pictures go to ARPO_LAB_SCREENSHOTS where it is set.
const executable = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const pictures = process.env["ARPO_LAB_SCREENSHOTS"] ?? temporaryFolder("lab-pictures");
const skip = existsSync(executable) ? false : `there is no ${executable}`;

const folder = temporaryFolder("lab-browser");
const code = (id: string, source: string): unknown => ({
  cell_type: "code",
  execution_count: null,
  id,
  metadata: {},
  outputs: [],
  source,
});
const figure = `const figure = {
  [Symbol.for("Jupyter.display")]: () => ({
    "application/vnd.plotly.v1+json": { data: [{ y: [1, 3, 2] }], layout: { title: { text: "A figure" } } },
    "text/plain": "a figure",
  }),
};
figure`;
const notebook = {
  cells: [
    { cell_type: "markdown", id: "m", metadata: {}, source: "# Mathematics $x^2$" },
    code("a", "const answer: number = 41;\nanswer + 1"),
    code("b", figure),
    code("c", "let n = 0;\nwhile (true) n++;"),
    code("d", "answer"),
  ],
  metadata: {
    kernelspec: { name: "arpo-lab", display_name: "TypeScript (arpo-lab)", language: "typescript" },
  },
  nbformat: 4,
  nbformat_minor: 5,
};

let server: LabServer;
let browser: Browser;
let page: Page;
/** What must stay empty: requests to elsewhere, errors, answers that are errors. */
const complaints: string[] = [];

before(async () => {
  if (skip !== false) return;
  mkdirSync(pictures, { recursive: true });
  writeFileSync(join(folder, "lesson.ipynb"), JSON.stringify(notebook));
  mkdirSync(join(folder, "notebooks"));
  const lesson = JSON.stringify(notebook).replace(
    "# Mathematics $x^2$",
    "# 01 · First steps\\n\\n**Now** go.",
  );
  writeFileSync(join(folder, "notebooks", "01-first-steps.ipynb"), lesson);
  server = await LabServer.start({ folder, page: await buildPage() });
  browser = await chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 1200 } });
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // A restart ends the connection that it is asked for over.
    if (/^Connection lost/.test(message.text())) return;
    if (["warning", "error"].includes(message.type())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    const inside = ["data:", "blob:"].includes(protocol) || host === new URL(server.url).host;
    if (!inside) complaints.push(`outside: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  await server.stop();
});

const picture = async (name: string): Promise<void> =>
  void (await page.screenshot({ path: join(pictures, `${name}.png`) }));
const cell = (n: number): string => `.jp-Notebook .jp-Cell:nth-child(${n})`;
const runCell = async (n: number): Promise<void> => {
  await page.click(`${cell(n)} .cm-content`);
  await page.keyboard.press("Control+Enter");
};
const output = async (n: number): Promise<string> =>
  (await page.textContent(`${cell(n)} .jp-OutputArea-output`)) ?? "";

test(
  "the lab opens a notebook and keeps the token out of the address and the page",
  { skip },
  async () => {
    await page.goto(`${server.url}lab/tree/lesson.ipynb?token=${server.token}`);
    await page.waitForSelector(`${cell(5)} .cm-content`);
    await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
    assert.ok(!page.url().includes("token"), page.url());
    assert.ok(!(await page.content()).includes(server.token), "a notebook's script could read it");
    await page.waitForSelector(`${cell(1)} mjx-container`);
    await page.waitForSelector(`${cell(2)} .cm-content span[class]`); // coloured
    await picture("opened");
  },
);

test("the lab runs cells and draws a figure", { skip }, async () => {
  await runCell(2);
  await page.waitForSelector(`${cell(2)} .jp-OutputArea-output`);
  assert.match(await output(2), /42/);
  await runCell(3);
  await page.waitForSelector(`${cell(3)} .js-plotly-plot .main-svg`);
  const box = await (await page.$(`${cell(3)} .js-plotly-plot`))!.boundingBox();
  assert.ok(box !== null && box.height > 200, "the figure has room");
  await picture("figure");
});

test("the lab completes what is typed", { skip }, async () => {
  await page.click(`${cell(5)} .cm-content`);
  await page.keyboard.press("Control+End");
  await page.keyboard.type(".toFi");
  await page.keyboard.press("Tab");
  await page.waitForFunction(
    () =>
      /\.toFixed/.test(
        document.querySelector(".jp-Cell:nth-child(5) .cm-content")?.textContent ?? "",
      ) || /toFixed/.test(document.querySelector(".jp-Completer")?.textContent ?? ""),
  );
  await page.keyboard.press("Escape");
  await page.click(`${cell(5)} .cm-content`);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("answer");
});

test("the lab shows the type of a name under the pointer", { skip }, async () => {
  await page
    .locator(`${cell(2)} .cm-content`)
    .getByText("answer", { exact: true })
    .first()
    .hover();
  const told = (await page.textContent(".arpo-Hover")) ?? "";
  assert.match(told, /answer: number/);
  await page.mouse.move(0, 0);
});

test("the lab interrupts a loop and keeps the state", { skip }, async () => {
  await runCell(4);
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="busy"]');
  await page.click(
    '.jp-NotebookPanel-toolbar [data-command="notebook:interrupt-kernel"], [data-jp-item-name="interrupt"] jp-button',
  );
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  await page.waitForSelector(
    `${cell(4)} [data-mime-type="application/vnd.jupyter.stderr"], ${cell(4)} [data-mime-type="application/vnd.jupyter.error"]`,
  );
  await runCell(5);
  await page.waitForSelector(`${cell(5)} .jp-OutputArea-output`);
  assert.match(await output(5), /41/);
});

test("the lab inserts a stage cell that the kernel knows", { skip }, async () => {
  await page.click('[data-jp-item-name="stage"] jp-button');
  await page.selectOption(".jp-Dialog select", { label: "time" });
  await page.click(".jp-Dialog button.jp-mod-accept");
  await page.waitForFunction(() =>
    (document.querySelector(".jp-Cell:nth-child(6) .cm-content")?.textContent ?? "").startsWith(
      "%%time",
    ),
  );
  await page.keyboard.press("Control+End");
  await page.keyboard.type("answer * 2");
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() =>
    (
      document.querySelector(".jp-Cell:nth-child(6) .jp-Cell-outputArea")?.textContent ?? ""
    ).includes("82"),
  );
});

test("the lab saves what was shown", { skip }, async () => {
  await page.keyboard.press("Control+s");
  const saved = (): string => readFileSync(join(folder, "lesson.ipynb"), "utf8");
  for (let i = 0; i < 100 && !saved().includes('"output_type"'); i++)
    await page.waitForTimeout(100);
  assert.match(saved(), /"42"/);
  assert.match(saved(), /"application\/vnd\.plotly\.v1\+json": \{/);
  assert.ok(!saved().includes('"trusted"'));
});

test("the lab restarts the kernel, which forgets", { skip }, async () => {
  await page.click('[data-jp-item-name="restart"] jp-button');
  await page.click(".jp-Dialog button.jp-mod-accept");
  await page.waitForSelector(".jp-Dialog", { state: "detached" });
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  await runCell(5);
  await page.waitForSelector(
    `${cell(5)} [data-mime-type="application/vnd.jupyter.error"], ${cell(5)} [data-mime-type="application/vnd.jupyter.stderr"]`,
  );
  await picture("restarted");
});

test("the lab opens the notebook again with its outputs", { skip }, async () => {
  await page.keyboard.press("Control+s");
  await page.waitForTimeout(500);
  await page.reload();
  await page.waitForSelector(`${cell(3)} .js-plotly-plot .main-svg`);
  assert.match(await output(2), /42/);
});

test("the lab shows the lessons on its launcher", { skip }, async () => {
  await page.click(
    '[data-command="filebrowser:create-main-launcher"], .jp-FileBrowser-toolbar jp-button',
  );
  const card = page.locator(".jp-LauncherCard", { hasText: "01 · First steps" });
  await card.waitFor();
  await picture("launcher");
  await card.click();
  await page.waitForSelector('.lm-TabBar-tabLabel:text("01-first-steps.ipynb")');
});

test("the lab asked no other machine, and nothing went wrong", { skip }, () => {
  assert.deepEqual(complaints, []);
});
