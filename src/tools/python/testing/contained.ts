import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escapes } from "./escapes.js";
import type { PythonPool } from "../python-pool.js";

/** Limits under which the attempts are made. */
export const limits = { workers: 2, timeoutMs: 1500, memoryMb: 256, maxOutput: 100_000 };

/** How many children a process has. */
const descendants = (pid: number): number =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]) === pid;
    } catch {
      return false; // It ended while we looked.
    }
  }).length;

/**
 * Runs every escape attempt in a pool of two interpreters and asserts that none got anywhere and that
 * both interpreters are in order after each; `choose` may take some of them, or write them otherwise. Test
 * material.
 */
export async function contained(
  pool: Pick<PythonPool, "run" | "warm" | "dispose">,
  name: string,
  choose = (all: [string, string][]) => all,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "escape-"));
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  const targets = {
    secretFile: join(folder, "secret"),
    markerFile: join(folder, "marker"),
    socketFile: join(folder, "socket"),
    port: 0,
    pid: 0,
  };
  writeFileSync(targets.secretFile, secret);
  process.env.ARPO_LAB_ESCAPE_SECRET = secret;
  let visitors = 0;
  const server = createServer((socket) => {
    visitors++;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  const listeners = [
    server,
    ...[targets.socketFile, `\0${targets.socketFile}`].map((path) =>
      createServer((socket) => {
        visitors++;
        socket.destroy();
      }).listen(path),
    ),
  ];
  await Promise.all(listeners.map((listener) => once(listener, "listening")));
  targets.port = (server.address() as { port: number }).port;
  const victim = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  targets.pid = victim.pid!;
  const all = Object.entries(escapes(targets));
  assert.ok(all.length >= 230);
  const attempts = choose(all);
  try {
    await pool.warm();
    for (const [attempt, code] of attempts) {
      const started = performance.now();
      const { text } = await pool.run(code);
      const ms = performance.now() - started;
      assert.ok(!text.includes(secret), `${name}: ${attempt} read the secret: ${text}`);
      assert.ok(!text.includes("ESCAPED"), `${name}: ${attempt}: ${text.slice(0, 500)}`);
      assert.equal(
        readFileSync(targets.secretFile, "utf8"),
        secret,
        `${name}: ${attempt} changed a file`,
      );
      assert.ok(
        victim.exitCode === null && victim.signalCode === null,
        `${name}: ${attempt} ended a process`,
      );
      assert.ok(!existsSync(targets.markerFile), `${name}: ${attempt} wrote a file`);
      assert.equal(visitors, 0, `${name}: ${attempt} reached the network`);
      assert.ok(text.length < 110_000, `${name}: ${attempt} wrote ${text.length} characters`);
      assert.ok(ms < 30_000, `${name}: ${attempt} took ${ms} ms`);
      // Both interpreters, asked at once, must be in order and remember nothing.
      const healthy = await Promise.all(
        [1, 2].map((n) => pool.run(`import os\n${n} + 40, os.listdir('/tmp')`)),
      );
      assert.deepEqual(
        healthy.map((run) => run.text),
        ["(41, [])", "(42, [])"],
        `${name}: after ${attempt}`,
      );
    }
    if (process.platform === "linux") assert.ok(descendants(process.pid) <= 4);
  } finally {
    await pool.dispose();
    for (const listener of listeners) listener.close();
    victim.kill("SIGKILL");
    delete process.env.ARPO_LAB_ESCAPE_SECRET;
    rmSync(folder, { recursive: true, force: true });
  }
}
