import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { nobody, sandboxUnavailableReason, systemPython } from "./system-python.js";

const trouble = sandboxUnavailableReason();
const skip = trouble !== undefined && `LEFT OUT, no python3 in a sandbox here: ${trouble}`;

/** What a program says that asks for the machine's Python on a machine that bubblewrap makes up. */
function asked(machine: readonly string[]): string {
  const host = [
    "--dev-bind",
    "/",
    "/",
    "--tmpfs",
    "/mnt",
    "--ro-bind",
    process.execPath,
    "/mnt/node",
  ];
  const url = new URL("system-python.js", import.meta.url).href;
  const program = `import { systemPython } from ${JSON.stringify(url)};
    try { console.log("started: " + systemPython().about); } catch (error) { console.log(error.message); }`;
  const node = ["/mnt/node", "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync("bwrap", [...host, ...machine, ...node], {
    encoding: "utf8",
  });
  return stdout.trim() || stderr;
}

test(
  "systemPython() starts no interpreter without a sandbox and says why in one line",
  { skip },
  () => {
    const bwrap = spawnSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).stdout.trim();
    const advice = "(install it, or use Pyodide, which needs neither: python: pyodide)";
    const refused = (machine: readonly string[]) => {
      const line = asked(machine);
      assert.ok(line.startsWith("Cannot start Python: bubblewrap (0.7 or newer, "), line);
      assert.ok(line.endsWith(advice), line);
      assert.equal(line.split("\n").length, 1, line);
      return line;
    };
    // A machine without bubblewrap, one with an old one, one that forbids user name spaces.
    assert.match(refused(["--tmpfs", dirname(bwrap)]), /got: no bwrap/);
    assert.match(refused(["--ro-bind", "/usr/bin/false", bwrap]), /got: status 1/);
    const user = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"];
    assert.match(refused(user), /got: bwrap: /);
  },
);

test("systemPython() names the interpreter that is missing, and Pyodide", { skip }, () => {
  assert.throws(
    () => systemPython({ python: "no-such-python" }),
    /^Error: Cannot start Python: the interpreter must run, got .*ENOENT from no-such-python \(or use Pyodide/,
  );
});

test("a link among the interpreter's folders does not show the home folder", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "lab-linked-python-"));
  try {
    const links = ["home", "above", "root"].map((name) => join(folder, name));
    for (const [i, target] of [homedir(), dirname(homedir()), "/"].entries())
      symlinkSync(target, links[i]!);
    // An interpreter that names these folders as its own.
    const names = links.map((link) => JSON.stringify(link)).join(", ");
    const python = join(folder, "python");
    const real = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], {
      encoding: "utf8",
    }).stdout.trim();
    writeFileSync(
      python,
      `#!/bin/sh\nif [ "$1" = -I ]; then ${real} "$@" | ${real} -c 'import json, sys; v, e, f = json.load(sys.stdin); print(json.dumps([v, e, f + [${names}]]))'; else exec ${real} "$@"; fi\n`,
      { mode: 0o755 },
    );
    const { pool } = systemPython({ python, workers: 1 });
    try {
      const { text } = await pool.run(`import os\nprint([os.path.exists(p) for p in [${names}]])`);
      assert.equal(text, "[False, False, False]");
    } finally {
      await pool.dispose();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** `/proc/PID/status` of every process below one. */
function statusesBelow(pid: number): string[] {
  const statuses = readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/status`, "utf8")] : [];
    } catch {
      return []; // It ended while we looked.
    }
  });
  const field = (status: string, name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1]);
  const below = (parent: number): string[] =>
    statuses
      .filter((status) => field(status, "PPid") === parent)
      .flatMap((status) => [status, ...below(field(status, "Pid"))]);
  return below(pid);
}

test("systemPython()'s interpreters are nobody, with no right of root's", { skip }, async () => {
  const { pool } = systemPython({ workers: 1 });
  try {
    assert.equal((await pool.run("import os\nos.getuid(), os.getgid()")).text, "(65534, 65534)");
    const statuses = statusesBelow(pool.pids[0]!);
    const server = statuses.find((status) => status.startsWith("Name:\tpython"))!;
    assert.ok(server, statuses.join("\n"));
    assert.match(server, /^CapPrm:\t0+$/m);
    assert.match(server, /^CapEff:\t0+$/m);
    assert.match(server, /^CapAmb:\t0+$/m);
    assert.match(server, /^NoNewPrivs:\t1$/m);
    if (process.getuid?.() === 0) {
      const id = `${nobody}\t${nobody}\t${nobody}\t${nobody}`;
      assert.match(server, new RegExp(`^Uid:\t${id}$`, "m"));
      assert.match(server, new RegExp(`^Gid:\t${id}$`, "m"));
      assert.match(server, /^Groups:\t ?$/m);
    }
  } finally {
    await pool.dispose();
  }
});

test("systemPython() shows code the interpreter and libraries, and no home", { skip }, async () => {
  const { pool } = systemPython({ workers: 1 });
  const list = async (folder: string) =>
    (await pool.run(`import os\nos.path.exists(${JSON.stringify(folder)})`)).text;
  try {
    for (const hidden of [
      "/proc",
      "/sys",
      "/etc/passwd",
      "/home",
      "/var",
      "/run",
      "/dev/shm",
      "/usr/local/bin",
    ]) {
      assert.equal(await list(hidden), "False", hidden);
    }
    assert.equal(await list("/usr/lib"), "True");
    assert.equal(
      (await pool.run("import os\nsorted(os.listdir('/dev'))")).text,
      "['full', 'null', 'random', 'urandom', 'zero']",
    );
  } finally {
    await pool.dispose();
  }
});
