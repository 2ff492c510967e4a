import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Client {
  environment: string;
  name: string;
  version: string;
  date: string;
}
const { readClients } = (await import(
  pathToFileURL(join(root, "tools/testing/newer-clients.mjs")).href
)) as { readClients: (text: string) => Client[] };
const clients = readClients(read(".ci/clients.txt"));

test("every program beside which CI tests is pinned once, with a day", () => {
  assert.ok(clients.length > 50);
  const keys = clients.map(({ environment, name }) => `${environment} ${name}`);
  assert.equal(new Set(keys).size, keys.length);
  for (const { date } of clients) assert.ok(Date.parse(date) <= Date.now() + 86_400_000, date);
  for (const line of [
    "agents openai 2026-01-01",
    "agents openai==1.0",
    "npm-ai ai@latest 2026-01-01",
  ])
    assert.throws(() => readClients(line), /must have an environment, a pinned package and a day/);
});

test(".ci installs nothing of other projects but what is pinned", () => {
  const scripts = read(".ci/full") + read(".ci/run") + read(".ci/lib.sh");
  const asked = [...scripts.matchAll(/\$\(pinned ([\w-]+)\)/g)].map(([, name]) => name!);
  assert.deepEqual(
    [...new Set(asked)].sort(),
    [...new Set(clients.map(({ environment }) => environment))].sort(),
  );
  for (const [line, rest] of read(".ci/full").matchAll(/python_packages \S+ ([^\n]*)/g))
    assert.equal(
      rest!.replace(/--no-deps|\$\(pinned [\w-]+\)|\$clients|"\$@"/g, "").trim(),
      "",
      line,
    );
});

test(
  "`pinned` gives versions, and names alone where the newest are asked for",
  { skip: process.platform === "win32" },
  () => {
    const pinned = (name: string, env = {}) =>
      spawnSync("bash", ["-c", `eval "$(sed -n '/^pinned()/,/^}/p' .ci/lib.sh)"; pinned ${name}`], {
        cwd: root,
        env: { ...process.env, ...env },
        encoding: "utf8",
      }).stdout.trim();
    const [torch] = clients.filter(
      ({ environment, name }) => environment === "verl" && name === "torch",
    );
    assert.match(
      pinned("verl"),
      new RegExp(`^torch==${torch!.version.replaceAll(".", "\\.")}$`, "m"),
    );
    const newest = pinned("verl", { ARPO_LAB_NEWEST: "1" });
    assert.match(newest, /^verl\[verl-core\]$/m);
    assert.doesNotMatch(newest, /=/);
    assert.match(pinned("npm-ai"), /^@ai-sdk\/openai@\d/m);
    assert.match(pinned("npm-ai", { ARPO_LAB_NEWEST: "1" }), /^@ai-sdk\/openai$/m);
  },
);
