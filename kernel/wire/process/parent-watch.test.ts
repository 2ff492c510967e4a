import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { until } from "../../../tests/until.js";
import { watchParent } from "./parent-watch.js";

test("watchParent() tells once that the front end is gone, and not before", async () => {
  const parent = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: "pipe" });
  await once(parent, "spawn");
  const events: string[] = [];
  watchParent(() => events.push("gone"), parent.pid, 5);
  let turns = 0;
  const counting = setInterval(() => turns++, 5);
  await until(() => turns > 5, "a few looks at a front end that lives");
  assert.deepEqual(events, []);
  parent.kill("SIGKILL");
  await until(() => events.length > 0, "the end of the front end to be noticed");
  turns = 0;
  await until(() => turns > 5, "a few turns more");
  clearInterval(counting);
  assert.deepEqual(events, ["gone"]);
});
