import assert from "node:assert/strict";
import { test } from "node:test";
import { heldByProcess } from "./child-process.js";

test("a worker that writes a line without end is ended, and nothing of it is kept", async () => {
  const code =
    "const part = Buffer.alloc(1 << 20, 97); const write = () => process.stdout.write(part, write); write();";
  const why = await new Promise<string>((done, failed) => {
    const command = { file: process.execPath, args: ["-e", code], env: {} };
    heldByProcess(command)(() => failed(new Error("it was heard")), done);
  });
  assert.match(why, /^it wrote a line of more than 67108864 bytes/);
});
