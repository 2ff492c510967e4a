// What VS Code's Jupyter extension asks of a kernel that is not Python, message by message, as its public
// source has it (github.com/microsoft/vscode-jupyter; docs/vscode.md names the files).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Json } from "../../kernel/wire/message.js";
import { begun, FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start();
  await kernel.execute("const forest = { trees: ['oak'], count: () => 1 };");
});
after(() => kernel.close());

/** `standalone/intellisense/kernelCompletionProvider.ts`. */
async function complete(code: string, cursor_pos = code.length): Promise<Json> {
  return (await kernel.request("shell", "complete_request", { code, cursor_pos })).content;
}

/** The kinds it has icons for (`standalone/intellisense/conversion.ts`), as far as TypeScript has them. */
const known = new Set(
  "method function constructor field variable class interface module property constant enum keyword text file folder".split(
    " ",
  ),
);

test("kernel_info names the language as VS Code does, with what a saved notebook keeps of it", async () => {
  const { content } = await kernel.request("shell", "kernel_info_request");
  const info = content["language_info"] as Json;
  assert.equal(info["name"], "typescript");
  assert.equal(info["file_extension"], ".ts");
  assert.equal(info["mimetype"], "text/typescript");
  assert.equal(typeof info["version"], "string");
  assert.deepEqual(JSON.parse(JSON.stringify(info)), info);
});

test("the installed kernelspec says typescript, that interrupts are messages, and that it debugs", () => {
  const prefix = mkdtempSync(join(tmpdir(), "arpo-vscode-"));
  try {
    const bin = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
    const args = [bin, "kernel", "install", "--prefix", prefix];
    assert.equal(spawnSync(process.execPath, args).status, 0);
    const file = join(prefix, "share/jupyter/kernels/arpo-lab/kernel.json");
    const spec = JSON.parse(readFileSync(file, "utf8")) as Json;
    assert.equal(spec["language"], "typescript");
    assert.equal(spec["interrupt_mode"], "message");
    assert.deepEqual(spec["metadata"], { debugger: true, supported_encryption: ["curve"] });
    assert.equal(spec["kernel_protocol_version"], "5.5");
    assert.ok((spec["argv"] as string[]).includes("{connection_file}"));
  } finally {
    rmSync(prefix, { recursive: true });
  }
});

test("a completion has an entry with text and kind for every match, and where it goes", async () => {
  const code = "forest.";
  const reply = await complete(code);
  assert.equal(reply["status"], "ok");
  const matches = reply["matches"] as string[];
  assert.ok(matches.includes("trees") && matches.includes("count"));
  assert.deepEqual([reply["cursor_start"], reply["cursor_end"]], [code.length, code.length]);
  const { _jupyter_types_experimental: items } = reply["metadata"] as {
    _jupyter_types_experimental: { text: string; type: string; start?: number; end?: number }[];
  };
  // With fewer of them, or one that has no text, the extension shows the bare names.
  assert.ok(items.length >= matches.length);
  for (const { text, type } of items) assert.ok(text !== "" && known.has(type), `${text}: ${type}`);
  assert.deepEqual(
    items.map(({ text }) => text),
    matches,
  );
});

test("options come in the order of their declaration, required ones first", async () => {
  const typed =
    "declare function plant(o: { rare?: 1; tall: 1; also?: 1; deep: 1 }): void; plant({ ";
  const keys = async (code: string): Promise<unknown> =>
    (await complete(`${code} })`, code.length))["matches"];
  assert.deepEqual(await keys(typed), ["tall", "deep", "rare", "also"]);
  assert.deepEqual(await keys(`${typed}deep: 1, `), ["tall", "rare", "also"]);
  assert.deepEqual(await keys(`${typed}a`), ["also", "tall", "rare"]);
  const rollout =
    'import { rollout, type Policy } from "arpo-lab"; declare const p: Policy; rollout(p, "", { ';
  const offered = (await keys(rollout)) as string[];
  assert.deepEqual(offered.slice(0, 4), ["preset", "rule", "tools", "environment"]);
});

test("nothing to complete is an answer, not an error", async () => {
  const reply = await complete("nothing.here.");
  assert.deepEqual([reply["status"], reply["matches"]], ["ok", []]);
});

test("an entry that is looked at has its words as plain text", async () => {
  // `resolveCompletionItem.ts`: the line up to the cursor and the entry's text, detail 0.
  const code = "forest.count";
  const request = { code, cursor_pos: code.length, detail_level: 0 };
  const { content } = await kernel.request("shell", "inspect_request", request);
  assert.deepEqual([content["status"], content["found"]], ["ok", true]);
  assert.match(String((content["data"] as Json)["text/plain"]), /count/);
});

test("hidden runs are silent, count nothing and leave the session as it was", async () => {
  const hidden = { silent: true, store_history: false, allow_stdin: false };
  const { reply: first } = await kernel.execute("0");
  const { messages, reply } = await kernel.execute("forest.trees.length", hidden);
  assert.equal(reply["status"], "ok");
  assert.deepEqual(
    messages.map(({ header }) => header.msg_type),
    ["status", "status"],
  );
  const { reply: second } = await kernel.execute("0");
  assert.equal(second["execution_count"], Number(first["execution_count"]) + 1);
});

test("every mime type of an output is text, or JSON where its name says so", async () => {
  const { messages } = await kernel.execute(`
    import { display, raw } from "arpo-lab/kernel";
    display(raw("image/png", Uint8Array.of(137, 80)));
    display(raw("application/vnd.plotly.v1+json", { data: [] }));
    display.html("<b>1</b>"); console.log("out"); console.error("err");
    new Map([[1, { two: 2 }]])`);
  const bundles = messages
    .filter(({ header }) => /^(display_data|execute_result)$/.test(header.msg_type))
    .map(({ content }) => content["data"] as Json);
  assert.equal(bundles.length, 4);
  for (const [mime, content] of bundles.flatMap((bundle) => Object.entries(bundle))) {
    const isJson = /\+json$|^application\/json$/.test(mime);
    assert.equal(typeof content, isJson ? "object" : "string", mime);
  }
  const names = messages
    .filter(({ header }) => header.msg_type === "stream")
    .map(({ content }) => content["name"]);
  assert.deepEqual(names, ["stdout", "stderr"]);
});

test("a display that is updated keeps its id, also from a later cell", async () => {
  const { messages } = await kernel.execute("const shown = display.html('one'); shown.id");
  const id = (
    messages.find(({ header }) => header.msg_type === "display_data")!.content["transient"] as Json
  )["display_id"];
  const later = await kernel.execute("shown.update('two')");
  const update = later.messages.find(({ header }) => header.msg_type === "update_display_data")!;
  assert.deepEqual(update.content["transient"], { display_id: id });
});

test("an error has a name, a value and a traceback whose lines name the cell", async () => {
  const { error, reply } = await kernel.execute(
    "const fail = () => { throw new RangeError('far'); };\nfail();",
  );
  assert.deepEqual([error?.ename, error?.evalue, reply["status"]], ["RangeError", "far", "error"]);
  assert.ok(error!.traceback.every((line) => typeof line === "string"));
  assert.match(error!.traceback.join("\n"), /cell/);
});

test("an interrupt is a request on the control channel, answered, and the session goes on", async () => {
  const running = kernel.start(`let kept = 41; ${begun} for (;;) {}`);
  await kernel.begun(running.id);
  const reply = await kernel.request("control", "interrupt_request", {});
  assert.deepEqual(reply.content, { status: "ok" });
  assert.equal((await running.finished).reply["status"], "error");
  assert.deepEqual((await kernel.execute("kept + 1")).result, { "text/plain": "42" });
});

test("a question of a cell reaches whoever can answer it", async () => {
  const running = kernel.start("prompt('Name?')", { allow_stdin: true });
  assert.equal((await kernel.answerInput("Ada")).content["prompt"], "Name?");
  assert.deepEqual((await running.finished).result, { "text/plain": "'Ada'" });
});

test("a restart is a shutdown that is answered, an end, and a new process on the same ports", async () => {
  const old = await FrontEnd.start();
  const reply = await old.request("control", "shutdown_request", { restart: true });
  assert.deepEqual(reply.content, { status: "ok", restart: true });
  assert.equal((await old.exited).code, 0);
  await old.close();
  const fresh = await FrontEnd.start({ connection: old.connection });
  assert.deepEqual((await fresh.execute("6 * 7")).result, { "text/plain": "42" });
  await fresh.close();
});
