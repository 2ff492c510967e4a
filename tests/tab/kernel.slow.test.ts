import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { until } from "../until.js";
import type { TabBrowser } from "./browsers/driven.js";
import { openBrowser } from "./browsers/open-browser.js";
import { TabKernel } from "./tab-kernel.js";

let browser: TabBrowser;
let kernel: TabKernel;
before(async () => {
  browser = await openBrowser();
  kernel = await TabKernel.start(browser, true);
});
after(async () => {
  // Without one where it could not be started: the browser must not stay then.
  await (kernel as TabKernel | undefined)?.stop();
  await browser.close();
});

test("a cell's value, its types and its variables are those of any kernel", async () => {
  assert.equal(await kernel.value("1 + 1"), "2");
  assert.equal(await kernel.value("const x: number = 41; x + 1"), "42");
  assert.equal(
    await kernel.value("await Promise.resolve({ a: [x, 'b'], m: new Map([[1, { c: 2 }]]) })"),
    "{ a: [ 41, 'b' ], m: Map(1) { 1 => { c: 2 } } }",
  );
});

test("a wrong type is told where it stands, and nothing runs", async () => {
  const { reply } = await kernel.run('const y: number = "a"; y');
  assert.equal(reply["status"], "error");
  assert.match(String(reply["evalue"]), /not assignable to type 'number'/);
});

test("an error names the cell and the line", async () => {
  const { reply } = await kernel.run("const f = () => {\n  throw new Error('here');\n};\nf()");
  const said = (reply["traceback"] as string[]).join("\n");
  // WebKit does not say where evaluated code stands.
  assert.match(said, browser.name.startsWith("WebKit") ? /Error: here/ : /cell \d+, line 2:/);
});

test("what is printed comes as text, formatted as Node does", async () => {
  const { text } = await kernel.run('console.log("a %d", 1, { b: [1, 2] }); console.error("c")');
  assert.match(text, /a 1 \{ b: \[ 1, 2 \] \}\n/);
});

test("what is typed is completed", async () => {
  const id = await kernel.send("shell", "complete_request", {
    code: "const s = 'a'; s.toUp",
    cursor_pos: 21,
  });
  assert.ok(((await kernel.reply(id))["matches"] as string[]).includes("toUpperCase"));
});

test("a loop is interrupted, and what it counted is kept", async () => {
  const id = await kernel.begin('let n = 0; console.log("on"); for (;;) n++;');
  await kernel.printed(id, "on");
  await kernel.reply(await kernel.send("control", "interrupt_request", {}));
  assert.equal((await kernel.finish(id)).reply["ename"], "InterruptError");
  assert.equal(await kernel.value("n > 0"), "true");
});

test("an await is interrupted, and so is a loop after an await", async () => {
  for (const code of [
    'console.log("on"); await new Promise(() => {});',
    'await Promise.resolve(); console.log("on"); for (;;) n++;',
  ]) {
    const id = await kernel.begin(code);
    await kernel.printed(id, "on");
    await kernel.reply(await kernel.send("control", "interrupt_request", {}));
    assert.equal((await kernel.finish(id)).reply["ename"], "InterruptError", code);
  }
});

test("input is asked for, by waiting and in the middle of a computation", async () => {
  for (const code of ['await prompt("Name? ")', 'prompt.sync("Name? ")']) {
    const id = await kernel.begin(`import { prompt } from "arpo-lab/kernel"; ${code}`);
    await until(() => kernel.said.find((m) => m.parent === id && m.type === "input_request"), code);
    await kernel.send("stdin", "input_reply", { status: "ok", value: code });
    assert.match(String((await kernel.finish(id)).value), /Name/);
  }
});

test("files of a cell are those of Node's names for them", async () => {
  await kernel.value(
    'import { readFileSync, writeFileSync } from "node:fs"; writeFileSync("a.txt", "é"); readFileSync("/home/notebooks/a.txt", "utf8")',
  );
  assert.equal(await kernel.value('readFileSync("../notebooks/a.txt", "utf8")'), "'é'");
});

test("a tree is rolled out and a policy updated", async () => {
  await kernel.value(
    'import { advantages, Policy, rollout, score, tasks, update, world } from "arpo-lab"; import { worldPages } from "arpo-lab/run"; import { offlineSearch, searchTool, ToolSet } from "arpo-lab/tools"; import assert from "node:assert/strict"; const policy = await Policy.load("../data/models/tiny"); policy.tokenizer.vocabSize',
  );
  await kernel.value(
    "const tools = new ToolSet([searchTool({ provider: offlineSearch({ pages: worldPages(world) }), maxResults: 3 })]); const tree = await rollout(policy, tasks.lookup({ seed: 1 }).train[0], { preset: 'arpo', n: 8, responseLength: 64, seed: 1, tools }); tree.trajectories.length",
  );
  assert.match(
    String(
      await kernel.value(
        'const report = await update(policy, advantages(await score(tree), { estimator: "grpo" }), { preset: "aepo", learningRate: 5e-4 }); typeof report',
      ),
    ),
    /object/,
  );
});

test("without isolation a cell runs, and one that waits is interrupted", async () => {
  const plain = await TabKernel.start(browser, false);
  try {
    assert.equal(await plain.value("1 + 1"), "2");
    const id = await plain.begin('console.log("on"); await new Promise(() => {});');
    await plain.printed(id, "on");
    await plain.reply(await plain.send("control", "interrupt_request", {}));
    assert.equal((await plain.finish(id)).reply["ename"], "InterruptError");
  } finally {
    await plain.stop();
  }
});
