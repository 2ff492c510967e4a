// tfjs-core's own tests on our backends: needs a folder with jasmine-core 3 (ARPO_LAB_JASMINE_FOLDER) and is
// skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findAddon } from "../../../src/tensor/engine/native-engine.js";

interface Answer {
  backend: string;
  passed: number;
  left: number;
  failed: { name: string; why: string[] }[];
}

const script = fileURLToPath(
  new URL("../../../../tests/tensor/tfjs-core/run.mjs", import.meta.url),
);
const folder = process.env["ARPO_LAB_JASMINE_FOLDER"] ?? "";

for (const backend of ["native", "wasm"]) {
  test(`tfjs-core's own tests pass on ${backend}`, (t) => {
    if (!existsSync(folder)) {
      t.skip("no jasmine-core 3; set ARPO_LAB_JASMINE_FOLDER to a folder that has it");
      return;
    }
    if (backend === "native" && findAddon() === undefined) {
      t.skip("no addon here");
      return;
    }
    const { stdout, stderr } = spawnSync(process.execPath, [script, folder], {
      ...{ encoding: "utf8", maxBuffer: 1 << 28 },
      env: { ...process.env, ARPO_LAB_BACKEND: backend },
    });
    const last = stdout.trimEnd().split("\n").at(-1)!;
    assert.match(last, /^\{"backend":/, stderr.slice(-2000));
    const answer = JSON.parse(last) as Answer;
    assert.equal(answer.backend, backend);
    console.log(
      `${backend}: ${answer.passed} passed, ${answer.failed.length} failed, ${answer.left} left out`,
    );
    assert.deepEqual(answer.failed, []);
    assert.ok(answer.passed > 4000, `${answer.passed} passed`);
  });
}
