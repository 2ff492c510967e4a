import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadTools } from "./load-tools.js";

test("loadTools() loads a module's class, function or object by path", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tools-"));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(
    join(folder, "mine.mjs"),
    `export default class { constructor(p) { this.p = p; } execute(x) { return this.p.greeting + x; } }
     export const make = ({ greeting }) => ({ name: "n", execute: (x) => x + greeting });
     export const plain = { execute: (x) => x };
     export const wrong = 3;`,
  );
  const params = { greeting: "hi " };
  const tools = await loadTools(
    {
      tool_instances: {
        a: { class_path: "./mine.mjs", params },
        b: { class_path: "./mine.mjs#make", params },
        c: { class_path: join(folder, "mine.mjs#plain") },
      },
    },
    { folder },
  );
  const say = async (tag: string) => (await tools.call(tag, "you")).text;
  assert.deepEqual([await say("a"), await say("b"), await say("c")], ["hi you", "youhi ", "you"]);
  const one = (class_path: string) => ({ tool_instances: { x: { class_path } } });
  await assert.rejects(
    loadTools(one("./mine.mjs#none"), { folder }),
    /must export none, got default/,
  );
  await assert.rejects(
    loadTools(one("./mine.mjs#wrong"), { folder }),
    /object with execute, got number/,
  );
  await assert.rejects(loadTools(one("./gone.mjs"), { folder }), /Cannot load tool x/);
  const errors: Error[] = [];
  const rest = await loadTools(
    { ...one("./gone.mjs"), fail_on_error: false },
    { folder, onError: (error) => errors.push(error) },
  );
  assert.deepEqual([rest.tags, errors.length], [[], 1]);
});

test("loadTools() takes the reference's configuration", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tools-"));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const cache_file = join(folder, "search_cache.json");
  writeFileSync(cache_file, JSON.stringify({ Oslo: "Page 1: capital" }));
  await using tools = await loadTools({
    call_limit: 3,
    max_workers: 64,
    timeout: 120,
    retry_count: 3,
    verbose_logging: true,
    fail_on_error: false,
    tool_instances: {
      python: { class_path: "verl.workers.rollout.tools.python_tool.PythonTool", params: {} },
      search: {
        class_path: "verl.workers.rollout.tools.search_tool.BingSearchTool",
        params: {
          api_key: "K",
          zone: "Z",
          max_results: 10,
          result_length: 1000,
          location: "cn",
          cache_file,
          async_cache_write: true,
        },
      },
    },
  });
  assert.deepEqual(tools.stops, ["</python>", "</search>"]);
  assert.equal((await tools.call("search", "Oslo")).text, "Page 1: capital");
});

test("loadTools() names a key it does not know", async () => {
  await assert.rejects(loadTools({ retries: 3 } as never), /Unrecognized key: "retries"/);
});

test("loadTools() names a parameter that a tool would not read", async () => {
  const load = (class_path: string, params: Record<string, unknown>) =>
    loadTools({ tool_instances: { x: { class_path, params } } });
  await assert.rejects(
    load("search.offline", { corpos: "a.jsonl" }),
    /Cannot load tool x: every parameter of search\.offline must be known, got corpos \(did you mean corpus\?\)/,
  );
  await assert.rejects(load("calculator", { digits: 3 }), /got digits \(it has none\)/);
});
