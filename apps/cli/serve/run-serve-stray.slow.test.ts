import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { start } from "../../../tests/cli/training-run.js";

test("a floating rejection and a late throw do not end a server: told, and it continues to answer", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-stray-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "callback.mjs");
  await writeFile(
    file,
    `process.on("SIGUSR2", () => {
       void Promise.reject(new Error("floating"));
       setTimeout(() => { throw new Error("late"); });
     });\n`,
  );
  const server = start(["serve", "data/models/tiny", "--port", "0", "--quiet"], {
    NODE_OPTIONS: `--import=${file}`,
  });
  await server.said(/at http\S+ \(no key\)/);
  server.child.kill("SIGUSR2");
  await server.said(/nobody waited for, from .*callback\.mjs:2:\d+: Error: floating/);
  await server.said(/nobody waited for, from .*callback\.mjs:3:\d+: Error: late/);
  const [, url] = /at (http\S+) /.exec(server.output())!;
  assert.equal((await fetch(`${url!}/models`)).status, 200);
  server.child.kill("SIGINT");
  assert.equal(await server.ended, 0, server.output());
});
