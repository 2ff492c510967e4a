import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { kernelFolder } from "./kernel-specs.js";

const bin = fileURLToPath(new URL("../../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

test("kernel install, list and remove write, show and delete two kernelspecs", () => {
  const home = mkdtempSync(join(tmpdir(), "arpo-kernelspec-"));
  const env = { ...process.env, JUPYTER_DATA_DIR: home, JUPYTER_PATH: "", VIRTUAL_ENV: home };
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [bin, "kernel", ...args], { env, encoding: "utf8" });
  try {
    assert.match(run("install"), /Installed arpo-lab in .*\nInstalled arpo-lab-js in /);
    for (const [name, language] of [
      ["arpo-lab", "typescript"],
      ["arpo-lab-js", "javascript"],
    ] as const) {
      const file = join(home, "kernels", name, "kernel.json");
      const spec = JSON.parse(readFileSync(file, "utf8")) as Record<string, string | string[]>;
      assert.equal(spec.language, language);
      assert.equal(spec.interrupt_mode, "message");
      assert.equal(spec.argv?.[0], process.execPath);
      assert.ok(existsSync(spec.argv?.[1] ?? ""), "the kernel it starts exists");
      assert.ok(spec.argv?.includes("{connection_file}"));
    }
    assert.match(run("list"), /^arpo-lab {5}.*\narpo-lab-js {2}/);
    run("remove");
    assert.ok(!existsSync(join(home, "kernels", "arpo-lab")));
    const again = spawnSync(process.execPath, [bin, "kernel", "remove"], { env, encoding: "utf8" });
    assert.equal(again.status, 1);
    assert.match(again.stderr, /^Cannot remove the kernels: none is installed in /);
    run("install", "--sys-prefix");
    assert.ok(existsSync(join(home, "share", "jupyter", "kernels", "arpo-lab", "logo-svg.svg")));
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("kernelFolder() follows prefix, then the environment, then the user's folder", () => {
  const env = { VIRTUAL_ENV: "/env", JUPYTER_DATA_DIR: "/data" };
  assert.equal(kernelFolder({ prefix: "/opt" }, env), join("/opt", "share", "jupyter", "kernels"));
  assert.equal(kernelFolder({ sysPrefix: true }, env), join("/env", "share", "jupyter", "kernels"));
  assert.equal(kernelFolder({}, env), join("/data", "kernels"));
  assert.throws(() => kernelFolder({ sysPrefix: true }, {}), /Cannot find a Python environment/);
});

test(
  "a folder that cannot be made is refused by name",
  { skip: process.platform !== "linux" },
  () => {
    for (const [prefix, code] of [
      ["/proc/x", "ENOENT"],
      ["/etc/hostname/x", "ENOTDIR"],
    ]) {
      const args = [bin, "kernel", "install", "--prefix", prefix!];
      const { stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
      assert.equal(status, 1);
      assert.equal(
        stderr,
        `Cannot install the kernels: ${prefix}/share/jupyter/kernels/arpo-lab must be a folder that can be written, got ${code}\n`,
      );
    }
  },
);
