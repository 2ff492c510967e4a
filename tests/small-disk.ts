import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A file system of so many megabytes, where this user may mount one. */
export async function smallDisk(
  t: Pick<TestContext, "after" | "skip">,
  megabytes: number,
): Promise<string | undefined> {
  const path = await mkdtemp(join(tmpdir(), "arpo-lab-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  if (status !== 0) {
    t.skip("a small disk cannot be mounted by this user");
    await rm(path, { recursive: true });
    return undefined;
  }
  t.after(async () => {
    spawnSync("umount", [path]);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

/** Changes what a mounted disk may hold. */
export const remount = (path: string, options: string) =>
  assert.equal(spawnSync("mount", ["-o", `remount,${options}`, path]).status, 0);
