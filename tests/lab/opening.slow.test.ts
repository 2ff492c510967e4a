import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../temporary.js";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

interface Plugin {
  raw: string;
  data: { composite: unknown };
}
interface Validator {
  validateData(plugin: Plugin): unknown;
  full: Validator;
}
declare const settingRegistry: { plugins: Record<string, Plugin>; validator: Validator };

const figure = {
  output_type: "display_data",
  metadata: {},
  data: { "application/vnd.plotly.v1+json": { data: [{ y: [1, 3, 2] }], layout: { height: 300 } } },
};

let lab: BrowserLab;
let tab: Tab;
const asked: string[] = [];
before(async () => {
  if (skip !== false) return;
  // Another kernel of the same language, whose name stands before ours.
  const jupyter = temporaryFolder("jupyter-");
  const kernel = join(jupyter, "kernels", "another");
  mkdirSync(kernel, { recursive: true });
  const spec = { display_name: "Another", language: "typescript", argv: ["another"] };
  writeFileSync(join(kernel, "kernel.json"), JSON.stringify(spec));
  process.env["JUPYTER_PATH"] = jupyter;
  const cells = Array.from({ length: 30 }, (_, i) => ({
    ...codeCell(`c${i}`, `${i}`),
    outputs: [figure],
  }));
  const first = { ...codeCell("first", "'a < b'") };
  lab = await BrowserLab.start({ "a folder/<b>&'ö.ipynb": notebookFile([first, ...cells]) });
  tab = await lab.tab();
  tab.page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
  await tab.open(`${encodeURIComponent("a folder")}/${encodeURIComponent("<b>&'ö.ipynb")}`);
});
after(async () => {
  if (skip === false) await lab.stop();
});

test("settings that nobody set are what ajv makes of their schemas", { skip }, async () => {
  const { compared, different } = await tab.page.evaluate(() => {
    const sorted = (value: unknown): unknown =>
      typeof value !== "object" || value === null || Array.isArray(value)
        ? Array.isArray(value)
          ? value.map(sorted)
          : value
        : Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, inner]) => [key, sorted(inner)]),
          );
    const { plugins, validator } = settingRegistry;
    const all = Object.keys(plugins).filter((id) => plugins[id]!.raw === "{}");
    const made = (by: Validator, id: string): string => {
      const copy = { ...plugins[id]!, data: { composite: undefined } };
      const errors = by.validateData(copy);
      return JSON.stringify([errors, sorted(copy.data.composite)]);
    };
    const different = all.filter((id) => made(validator, id) !== made(validator.full, id));
    return { compared: all.length, different };
  });
  assert.ok(compared > 30, `${compared} plugins`);
  assert.deepEqual(different, []);
});

test("what the page asks first is asked ahead, and once", { skip }, async () => {
  const place = "/api/contents/a%20folder/%3Cb%3E%26'%C3%B6.ipynb";
  const whole = asked.filter((line) => line.includes(`${place}?type=notebook&content=1`));
  assert.deepEqual(
    whole.map((line) => new URL(line.slice(4)).search.includes("17")),
    [false],
    "asked by the first script, which adds no time",
  );
  const settings = asked.filter((line) => /\/lab\/api\/settings(\?\d+)?$/.test(line));
  assert.equal(settings.length, 1);
});

test("figures are drawn when they come into view", { skip }, async () => {
  await tab.page.waitForSelector(".js-plotly-plot .main-svg");
  await tab.page.waitForFunction(() => document.querySelectorAll(".jp-CodeCell").length === 31);
  const drawn = await tab.page.locator(".js-plotly-plot").count();
  assert.ok(drawn >= 1 && drawn < 15, `${drawn} of 30 are drawn`);
  await tab.page.click(`${tab.cell(1)} .jp-InputPrompt`);
  await tab.page.keyboard.press("Control+End");
  const last = tab.page.locator(".jp-Notebook .jp-CodeCell").last();
  // Cells above that are made meanwhile move it out of view again.
  const lastFigure = last.locator(".js-plotly-plot .main-svg").first();
  for (let i = 0; i < 100 && !(await lastFigure.isVisible()); i++) {
    await last.scrollIntoViewIfNeeded();
    await tab.page.waitForTimeout(200);
  }
  await lastFigure.waitFor();
  const now = await tab.page.locator(".js-plotly-plot").count();
  assert.ok(now < 30, `${now} of 30 are drawn`);
});

test(
  "a new notebook is this kernel's, whatever else runs TypeScript, and then of the kernel that was chosen last",
  { skip },
  async () => {
    const { page } = tab;
    const select = page.locator(".jp-Dialog select");
    const proposed = async () => {
      await page.locator('.lm-MenuBar-itemLabel:text("File")').click();
      await page.locator('.lm-Menu-item[data-command="filemenu:new"], .lm-Menu-item:has-text("New")').first().hover(); // prettier-ignore
      await page.locator('.lm-Menu-item[data-command="notebook:create-new"]').last().click();
      await select.waitFor();
      return JSON.parse(await select.inputValue()) as { name: string };
    };
    assert.deepEqual(await proposed(), { name: "arpo-lab" });
    assert.equal(await select.locator('option:text("Another")').count(), 1);
    await select.selectOption({ label: "JavaScript (arpo-lab)" });
    await page.locator(".jp-Dialog .jp-mod-accept").click();
    await select.waitFor({ state: "detached" });
    assert.deepEqual(await proposed(), { name: "arpo-lab-js" });
    await page.locator(".jp-Dialog .jp-mod-reject").first().click();
  },
);
