import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountry } from "../../tasks/natural/country.js";
import { question } from "../../tasks/task.js";
import { taskTools } from "../../tasks/task-tools.js";
import { loadConfig } from "../config/load.js";
import { pagesIn, tasksOf } from "./tasks-of.js";

const configOf = async (train: string, validation: string) =>
  (
    await loadConfig({
      overrides: [`data.train_files=${train}`, `data.val_files=${validation}`],
    })
  ).config;

test("a configuration's natural families are searched in their own pages", async () => {
  const config = await configOf("tasks:natural?level=2", "tasks:pages?country=0,trails?level=3");
  const pages = pagesIn(config)!;
  assert.deepEqual(pages, createCountry().pages);
  const [, task] = await tasksOf(config.data.train_files, "train", config);
  assert.equal(task!.dataSource, "pages");
  await using tools = taskTools({ pages });
  const { text } = await tools.call("search", question(task!));
  assert.ok(text.includes("Page 1: "));
});

test("pages of families are joined, the shipped world's among them, unless they contradict each other", async () => {
  assert.equal(pagesIn(await configOf("tasks:calc", "tasks:lookup,mixed")), undefined);
  assert.equal(pagesIn(await configOf("tasks:stories", "tasks:stories")), undefined);
  assert.equal(pagesIn(await configOf("some.jsonl", "tasks:stories")), undefined);
  assert.equal(pagesIn(await configOf("tasks:lookup", "tasks:pages"))!.length, 360 + 330);
  const two = await configOf("tasks:pages?country=1", "tasks:pages?country=2");
  assert.throws(
    () => pagesIn(two),
    /the pages of all families must agree, got two for .*same country/,
  );
});
