import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { nobody, sandboxUnavailableReason, systemPython } from "./system-python.js";
import { contained, limits } from "./testing/contained.js";

const trouble = sandboxUnavailableReason();
const left = trouble === undefined ? false : `LEFT OUT, bubblewrap does not work here: ${trouble}`;
const root = process.getuid?.() === 0;

test(
  `the machine's Python behind bubblewrap contains every escape attempt and stays healthy (started by ${root ? "root" : "a user"})`,
  { skip: left },
  async () => {
    await contained(systemPython(limits).pool, "bubblewrap");
  },
);

// Root and users get the same sandbox in different ways: where this is root, the other is tried too.
test(
  "the same, started by a user",
  { skip: left || (!root && "only root becomes another user") },
  (t) => {
    const user = {
      uid: nobody,
      gid: nobody,
      encoding: "utf8",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    } as const;
    const file = fileURLToPath(import.meta.url);
    if (
      spawnSync(process.execPath, ["--check", file], user).status !== 0 ||
      spawnSync("python3", ["-c", ""], user).status !== 0
    ) {
      t.skip("LEFT OUT: users other than root can read neither this package nor a Python");
      return;
    }
    const { status, stdout } = spawnSync(process.execPath, [file], user);
    assert.equal(status, 0, stdout);
    assert.match(stdout, /\(started by a user\)/);
    assert.doesNotMatch(stdout, /LEFT OUT/);
  },
);
