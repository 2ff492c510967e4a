import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = join(root, "kernel/server/page");

test("the page's own sources have no type errors", () => {
  const work = mkdtempSync(join(tmpdir(), "lab-types-"));
  try {
    for (const name of ["src", "package.json", "package-lock.json", "tsconfig.json"]) {
      cpSync(join(page, name), join(work, name), { recursive: true });
    }
    const modules = process.env["ARPO_LAB_PAGE_MODULES"];
    if (modules !== undefined)
      symlinkSync(resolve(modules), join(work, "node_modules"), "junction");
    else {
      const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      execFileSync("npm", ["ci", ...quiet], { cwd: work, stdio: "inherit" });
    }
    const compiler = join(root, "node_modules/tsc7/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", work], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});
