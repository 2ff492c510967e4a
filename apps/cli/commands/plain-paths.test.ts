import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

test(
  "a command refuses a path that is no regular file or folder, and does not wait for it",
  { skip: process.platform !== "linux" && "no pipes with names, or no /proc" },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "arpo-lab-pipes-"));
    const pipe = join(folder, "pipe.ipynb");
    try {
      execFileSync("mkfifo", [pipe]);
      const out = join(folder, "out");
      for (const [args, found] of [
        [["run", pipe], "a pipe"],
        [["view", pipe], "a pipe"],
        [["train", "--config", pipe, "--out", out], "a pipe"],
        [["convert", pipe, out], "a pipe"],
        [["site", out, "--notebooks", "/proc/self"], "the system's own, /proc/"],
        [["run", "/dev/zero"], "a device"],
      ] as const) {
        const { status, stderr } = spawnSync(process.execPath, [cli, ...args], {
          ...{ encoding: "utf8", timeout: 60_000 },
        });
        assert.equal(status, 2, `${args.join(" ")}: ${stderr}`);
        assert.match(stderr, /^Cannot open .*: it must be a regular file or a folder, got /m);
        assert.ok(stderr.includes(found), stderr);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
