// Figures as files that need no browser to be made.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as view from "../../src/api/view.js";
import { everyView } from "../../src/view/testing/every-view.js";

const figure = view.passAtKCurve({ arpo: [{ n: 4, correct: 2 }] }, { theme: "dark" });

test("saveFigure() writes by extension, and refuses others", async () => {
  const folder = await mkdtemp(join(tmpdir(), "figure-"));
  try {
    const read = async (name: string) => {
      await view.saveFigure(join(folder, name), figure);
      return readFile(join(folder, name));
    };
    assert.match((await read("a.svg")).toString(), /^<svg[^]*<\/svg>\n$/);
    assert.deepEqual(JSON.parse((await read("a.json")).toString()), figure);
    assert.match((await read("a.html")).toString(), /data-picture><svg[^]*class="arpo-plotly"/);
    const png = await read("a.png");
    assert.equal(png.readUInt32BE(16), 1400, "two pixels per unit");
    assert.equal(png.readUInt32BE(20), 720);
    assert.match(
      (await read("a.pdf")).toString("latin1"),
      /^%PDF-1\.4\n[^]*MediaBox \[0 0 525 270\]/,
    );
    await assert.rejects(view.saveFigure(join(folder, "a.gif"), figure), RangeError);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("toPng() makes the same bytes of the same figure, and others of another theme", async () => {
  const [a, b] = [await view.toPng(figure), await view.toPng(figure)];
  assert.deepEqual(a, b);
  const light = view.passAtKCurve({ arpo: [{ n: 4, correct: 2 }] }, { theme: "light" });
  assert.notDeepEqual(await view.toPng(light), a);
  await assert.rejects(view.toPng(figure, { scale: 0 }), /scale must be a number above 0/);
});

test("toSvg(), toPng(), toHtml() and saveFigure() take every view", async () => {
  const folder = await mkdtemp(join(tmpdir(), "figure-"));
  try {
    for (const [name, value] of Object.entries(await everyView())) {
      const svg = await view.toSvg(value as Parameters<typeof view.explore>[0]);
      assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^]*<\/svg>$/, name);
      assert.doesNotMatch(svg, /NaN|undefined|<script|<image/, name);
      assert.match(svg, /<title>|<desc>|aria-label=/, `${name} says what it shows`);
      const png = await view.toPng(value as Parameters<typeof view.explore>[0], { scale: 1 });
      assert.ok(png.length > 1000, `${name}: ${png.length} bytes`);
      const pdf = await view.toPdf(value as Parameters<typeof view.explore>[0]);
      assert.ok(pdf.length > 1000, `${name}: ${pdf.length} bytes`);
      const path = join(folder, `${name}.html`);
      await view.saveFigure(path, value as Parameters<typeof view.explore>[0]);
      assert.match(await readFile(path, "utf8"), /^<!doctype html>/, name);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("what shows itself without a picture is refused, and only figures are saved as JSON", async () => {
  const { sampleTree } = await import("../../src/view/testing/sample-tree.js");
  assert.throws(
    () => view.toSvg(new Date() as never),
    /^TypeError: Cannot make an SVG: the value must be a figure or show itself with a picture/,
  );
  assert.throws(
    () => view.toHtml(new Date() as never),
    /must be a figure or show itself in a view/,
  );
  await assert.rejects(
    view.saveFigure("tree.json", await sampleTree({ seed: 1 })),
    /must end in \.svg, \.png, \.pdf or \.html, got tree\.json/,
  );
});

test("toSvg() refuses what it cannot draw, toHtml() takes views too", async () => {
  assert.throws(() => view.toSvg({ data: [{ type: "pie" }], layout: {} }), /got "pie"/);
  const { sampleReport } = await import("../../src/view/testing/sample-report.js");
  assert.match(view.toHtml(view.explain(await sampleReport())), /^<!doctype html>.*arpo-explain/s);
});
