// Nothing of a call is left for the next one, and a call that breaks its interpreter fails alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ToolSet } from "../tool-set.js";
import { pyodidePool } from "./pyodide-python.js";
import { brokenText } from "./python-pool.js";
import { pythonTool } from "./python-tool.js";
import { sandboxUnavailableReason, systemPython } from "./system-python.js";
import { costly, leavesNothing, leftovers } from "./testing/leftovers.js";

const limits = { workers: 1, timeoutMs: 20_000 };

const pool = pyodidePool(limits);
after(() => pool.dispose());

test("a call of Pyodide leaves nothing: descriptors, files, times, numbers, settings", async () => {
  const names = Object.keys(leftovers).filter((name) => !costly.includes(name));
  assert.ok(names.length >= 20);
  const [first] = (await pool.run("None"), pool.pids);
  await leavesNothing(pool, names);
  assert.deepEqual(pool.pids, [first], "everything was put back in one interpreter");
});

test("every call finds the same interpreter: modules, places in memory, hashes", async () => {
  const code = "import sys\nprint(object(), lambda: 0, hash('a'), sorted(sys.modules))";
  const texts = new Set<string>();
  const other = pyodidePool(limits);
  for (const one of [pool, pool, other, other]) texts.add((await one.run(code)).text);
  await other.dispose();
  assert.equal(texts.size, 1, [...texts].join("\n"));
});

test("code that is only read costs no interpreter", async () => {
  await pool.run("None");
  const before = pool.pids;
  assert.equal(await pool.preprocess("1+1"), "print(1 + 1)");
  assert.equal((await pool.run("2+2")).text, "4");
  assert.deepEqual(pool.pids, before);
});

test("Pyodide forgets a name that was looked up, and is replaced for it", async () => {
  const before = pool.pids;
  const found = await pool.run('import socket\nsocket.gethostbyname("a.secret")');
  assert.ok(found.ok, found.text);
  const { text } = await pool.run('import socket\nsocket.gethostbyaddr("172.29.1.0")');
  assert.ok(!text.includes("secret"), text);
  assert.notDeepEqual(pool.pids, before);
});

test("a call that breaks its interpreter fails alone, as the tool's failure", async () => {
  const tool = pythonTool(limits);
  await using tools = new ToolSet([tool]);
  const [broken, next] = [
    await tools.call("python", "import os\nos.abort()"),
    await tools.call("python", "print('whole')"),
  ];
  assert.deepEqual([broken.ok, broken.failure?.kind, broken.retries, broken.text], [false, "error", 1, brokenText]); // prettier-ignore
  assert.deepEqual([next.ok, next.text], [true, "whole"]);
  const wrong = await tools.call("python", "1/0");
  assert.equal(wrong.ok, true, "the model's own error is an answer");
});

const trouble = sandboxUnavailableReason();
const skip = trouble !== undefined && `LEFT OUT, no python3 in a sandbox here: ${trouble}`;

test("a call of the machine's Python leaves nothing", { skip }, async () => {
  const { pool } = systemPython(limits);
  after(() => pool.dispose());
  const inode = "import os\nopen('/tmp/f', 'w').close()\nprint(os.stat('/tmp/f').st_ino)";
  const numbers = [await pool.run(inode), await pool.run(inode)].map(({ text }) => text);
  assert.equal(numbers[0], numbers[1]);
  const few = /closed$|text in times|that is gone|without names|threads|zone/;
  await leavesNothing(
    pool,
    Object.keys(leftovers).filter((name) => few.test(name)),
  );
});
