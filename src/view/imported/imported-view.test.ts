import assert from "node:assert/strict";
import { test } from "node:test";
import { importRollouts } from "../../formats/import-rollouts.js";
import { readRollouts } from "../../formats/read-rollouts.js";
import { board } from "../board/board.js";
import { showImported } from "./imported-view.js";
import { toHtml } from "../export/to-html.js";

const fixtures = "tests/fixtures/rollouts";

test("showImported() says what the files carry, lists prompts and holds a board", async () => {
  const imported = await importRollouts(`${fixtures}/verl`);
  const html = showImported(imported).html();
  assert.match(html, /entropies<\/th><td>not in the file; a policy can fill them in/);
  assert.equal(html.match(/<details data-prompt=/g)!.length, 6);
  assert.equal(html.match(/data-tree>/g)!.length, 6);
  assert.match(html, /class="arpo-view arpo-board/);
  assert.match(html, /Right: Lima/);
  const one = showImported(await importRollouts(`${fixtures}/verl/0.6.1`)).html();
  assert.doesNotMatch(one, /arpo-board/, "one step has no curve");
});

test("showImported() keeps trees out that the page has no room for, and says so", async () => {
  const imported = await importRollouts(`${fixtures}/verl`);
  const small = showImported(imported, { treeBytes: 1 }).html();
  assert.equal(small.match(/data-tree>/g)!.length, 1);
  assert.equal(small.match(/Its tree is left out/g)!.length, 5);
  const served = showImported(imported, { treeBytes: 1, address: (i) => `tree/${i}` }).html();
  assert.equal(served.match(/<a href="tree\/\d">/g)!.length, 5);
});

test("showImported() gives one page of one import the same bytes", async () => {
  const make = async () =>
    showImported(await importRollouts(`${fixtures}/messages`), { id: "x" }).html();
  assert.equal(await make(), await make());
});

test("showImported() shows hostile content and runs none of it", async () => {
  const evil = `</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>"'&\u2028`;
  const record = {
    ...{ input: evil, output: `${evil}<result>${evil}</result>`, gts: evil, score: 1, step: 1 },
    ...{ [evil]: 3, reason: evil },
  };
  const imported = readRollouts([record, { ...record, step: 2 }, { bad: evil }], { name: evil });
  assert.equal(imported.broken.length, 1);
  const { "text/html": html, "image/svg+xml": picture } = showImported(imported).bundle();
  assert.doesNotMatch(html!, /<!--|<img/);
  assert.equal(html!.match(/alert\(1\)/g)!.length > 0, true, "it is shown");
  assert.equal(html!.match(/<script/g)!.length, html!.match(/<\/script>/g)!.length);
  const programs = [...html!.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text]) => text!);
  assert.ok(programs.length >= 2);
  for (const program of programs) assert.doesNotMatch(program, /alert/);
  assert.doesNotMatch(picture!, /<script|<img/);
});

test("an import shows itself once arpo-lab is loaded, and board() takes it", async () => {
  await import("../../api/index.js");
  const imported = await importRollouts(`${fixtures}/trl`);
  const show = (imported as unknown as Record<symbol, () => Promise<Record<string, string>>>)[
    Symbol.for("Jupyter.display")
  ]!;
  const shown = await show.call(imported);
  assert.match(shown["text/html"]!, /arpo-imported/);
  assert.match(shown["text/plain"]!, /^trl: 8 trajectories of 2 prompts in 2 files/);
  const payload = await board(imported).payload();
  assert.deepEqual(payload.panels[0]!.curves[0]!.x, [5, 10]);
  assert.equal((await toHtml(board(imported))).match(/data-tree-0-0-\d+>/g)!.length, 2);
});

test("an import without texts shows its curves", async () => {
  const imported = await importRollouts(`${fixtures}/tinker/iteration_000003`);
  assert.deepEqual([imported.prompts.length, imported.rows], [0, 2]);
  assert.match(showImported(imported).html(), /hold numbers of rollouts, and no texts/);
});
