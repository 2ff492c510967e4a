import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { until } from "../until.js";
import { Site } from "./site.js";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
type Json = Record<string, unknown>;
interface Said {
  channel: string;
  type: string;
  parent: string;
  content: Json;
}

/** A kernel in a page's thread, as a front end has it. */
class TabKernel {
  readonly said: Said[] = [];
  readonly console: string[] = [];
  #count = 0;

  private constructor(
    readonly site: Site,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async start(browser: Browser, isolated: boolean): Promise<TabKernel> {
    const entries = { "kernel-page": "dist/tests/tab/work/kernel-page.js" };
    const site = await Site.start(entries, isolated, true);
    const context = await browser.newContext();
    const page = await context.newPage();
    const kernel = new TabKernel(site, context, page);
    page.on("console", (message) => kernel.console.push(message.text()));
    await page.exposeFunction("said", (message: Said) => void kernel.said.push(message));
    await page.goto(`${site.url}index.html`);
    await page.evaluate((base) => {
      const worker = new Worker("kernel-page.js", { type: "module" });
      worker.onmessage = ({ data }) =>
        (globalThis as unknown as { said(m: unknown): void }).said(data);
      Object.assign(globalThis, { kernel: worker });
      worker.postMessage({ base, threads: "2" });
    }, site.url);
    return kernel;
  }

  async send(channel: string, type: string, content: Json): Promise<string> {
    const id = `r${++this.#count}`;
    await this.page.evaluate(
      (message) => (globalThis as unknown as { kernel: Worker }).kernel.postMessage(message),
      { id, channel, type, content },
    );
    return id;
  }

  async reply(id: string): Promise<Json> {
    const found = await until(
      () => this.said.find(({ parent, type }) => parent === id && type.endsWith("_reply")),
      `an answer to ${id}; the page said ${this.console.join("; ")}`,
      240_000,
    );
    return found.content;
  }

  /** Sends a cell, and does not wait. */
  begin(code: string): Promise<string> {
    return this.send("shell", "execute_request", { code, silent: false, allow_stdin: true });
  }

  async finish(id: string): Promise<{ reply: Json; value: unknown; text: string }> {
    const reply = await this.reply(id);
    await until(
      () => this.said.find((m) => m.parent === id && m.content["execution_state"] === "idle"),
      "idle",
    );
    const mine = this.said.filter(({ parent }) => parent === id);
    const shown = mine.find(({ type }) => type === "execute_result")?.content["data"] as
      Json | undefined;
    const text = mine
      .filter(({ type }) => type === "stream")
      .map(({ content }) => content["text"])
      .join("");
    return { reply, value: shown?.["text/plain"], text };
  }

  async run(code: string): Promise<{ reply: Json; value: unknown; text: string }> {
    return await this.finish(await this.begin(code));
  }

  async value(code: string): Promise<unknown> {
    const { reply, value } = await this.run(code);
    assert.equal(reply["status"], "ok", JSON.stringify(reply));
    return value;
  }

  /** Waits until a cell has printed something. */
  printed(id: string, text: string): Promise<unknown> {
    return until(
      () => this.said.find((m) => m.parent === id && String(m.content["text"]).includes(text)),
      `${id} to print ${text}`,
    );
  }

  async stop(): Promise<void> {
    await this.context.close();
    this.site.stop();
  }
}

let browser: Browser;
let kernel: TabKernel;
before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  kernel = await TabKernel.start(browser, true);
});
after(async () => {
  await kernel.stop();
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
  assert.match((reply["traceback"] as string[]).join("\n"), /cell \d+, line 2:/);
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
    'import { advantages, Policy, presets, rollout, score, tasks, update, world } from "arpo-lab"; import { worldPages } from "arpo-lab/data"; import { offlineSearch, searchTool, ToolSet } from "arpo-lab/tools"; import assert from "node:assert/strict"; const policy = await Policy.load("../data/models/tiny"); policy.tokenizer.vocabSize',
  );
  await kernel.value(
    "const tools = new ToolSet([searchTool({ provider: offlineSearch({ pages: worldPages(world) }), maxResults: 3 })]); const tree = await rollout(policy, tasks.lookup({ seed: 1 }).train[0], { ...presets.arpo, n: 8, responseLength: 64, seed: 1, tools }); tree.trajectories.length",
  );
  assert.match(
    String(
      await kernel.value(
        'const report = await update(policy, advantages(await score(tree), { estimator: "grpo" }), { ...presets.aepo, learningRate: 5e-4 }); typeof report',
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
