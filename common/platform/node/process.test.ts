import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { test } from "node:test";
import { until } from "../../../tests/until.js";
import { cpuSeconds } from "./process.js";

const busy =
  "const end = process.cpuUsage().user + 400_000; while (process.cpuUsage().user < end);";
const onLinux = { skip: process.platform === "linux" ? false : "only Linux tells" };

test(
  "cpuSeconds() counts processes that have ended and those that still run",
  onLinux,
  async () => {
    const before = cpuSeconds()!;
    spawnSync(process.execPath, ["-e", busy]);
    const ended = cpuSeconds()!;
    assert.ok(ended - before >= 0.35, `${ended - before}`);
    const inner = JSON.stringify(`${busy} setInterval(() => 0, 1000)`);
    const outer = `require("child_process").spawn(process.execPath, ["-e", ${inner}], { stdio: "inherit" })`;
    const child = spawn(process.execPath, ["-e", outer], { detached: true, stdio: "ignore" });
    try {
      await until(() => cpuSeconds()! - ended >= 0.4, "a child of a child that works");
    } finally {
      process.kill(-child.pid!, "SIGKILL");
    }
  },
);
