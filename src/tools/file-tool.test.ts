import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileTool } from "./file-tool.js";
import { ToolSet } from "./tool-set.js";

test("fileTool() reads inside its folder and nowhere else", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "files-"));
  t.after(() => {
    rmSync(base, { recursive: true });
  });
  const folder = join(base, "in");
  mkdirSync(join(folder, "sub"), { recursive: true });
  mkdirSync(join(base, "in-next"));
  writeFileSync(join(base, "in-next", "secret"), "secret");
  writeFileSync(join(base, "secret"), "secret");
  writeFileSync(join(folder, "a.txt"), "text");
  writeFileSync(join(folder, "..odd"), "odd name");
  writeFileSync(join(folder, "long.txt"), "é".repeat(100));
  writeFileSync(join(folder, "binary"), Buffer.from([1, 0, 2]));
  symlinkSync(join(base, "secret"), join(folder, "link"));
  symlinkSync("a.txt", join(folder, "good-link"));
  symlinkSync("..", join(folder, "up"));
  symlinkSync("loop", join(folder, "loop"));
  // Where there is no mkfifo the pipe is one more file that is not there.
  spawnSync("mkfifo", [join(folder, "pipe")]);
  const tools = new ToolSet([fileTool({ folder, maxLength: 50 })], { timeoutMs: 5000 });
  const read = async (path: string) => (await tools.call("file", path)).text;
  assert.equal(await read(" a.txt "), "text");
  assert.equal(await read("good-link"), "text");
  assert.equal(await read("sub/../a.txt"), "text");
  assert.equal(await read("..odd"), "odd name");
  assert.equal(await read("long.txt"), `${"é".repeat(50)}\n[file cut: 200 bytes in all]`);
  assert.equal(await read("binary"), "Error: not a text file");
  assert.match(await read(""), /^\.\.odd\na\.txt\n/);
  assert.equal(await read("sub"), "(empty folder)");
  const out = [
    "../secret",
    "link",
    "up/secret",
    "up",
    "loop",
    "pipe",
    "../in-next/secret",
    "/etc/passwd",
  ];
  for (const path of [
    ...out,
    join(base, "secret"),
    "a.txt\0",
    "none",
    "a.txt/x",
    "x".repeat(5000),
  ]) {
    assert.match(await read(path), /^Error: no file at /, path);
  }
});
