import assert from "node:assert/strict";
import { test } from "node:test";
import { openEnvServer, walk } from "../../../tests/environment/open-env-server.js";
import { runEnvCheck } from "./run-env-check.js";

test("env check says what an OpenEnv environment can do", async (t) => {
  const { url } = await openEnvServer(t, { world: walk });
  const said = t.mock.method(console, "log", () => undefined);
  await runEnvCheck(url, { call: ["act=RIGHT"] });
  await assert.rejects(runEnvCheck(url, { call: ["act"] }), /--call must be TOOL=INPUT, got act/);
  await runEnvCheck(url, { call: [] });
  said.mock.restore();
  const lines = said.mock.calls.map(({ arguments: [line] }) => String(line));
  assert.match(lines[0]!, /^tool {6}<act> Moves by one\./);
  assert.match(lines.join("\n"), /call {6}<act>RIGHT<\/act> 1: now at \d\. \(earns -0\.1\)/);
  assert.match(
    lines.join("\n"),
    /sessions {2}1 at once\n.*\nbranches {2}yes: the same seed answers alike\n/,
  );
  assert.match(
    lines.at(-1)!,
    /^branches {2}unknown: no call was tried, and resets are alike; give --call/,
  );
});
