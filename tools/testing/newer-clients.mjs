// `node tools/testing/newer-clients.mjs`: which packages of .ci/clients.txt have a newer release, as a table. It asks pip and npm.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const ask = promisify(execFile);

/** The lines of .ci/clients.txt. */
export function readClients(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [environment, pinned, date] = line.trim().split(/\s+/);
      const found = /^(@?[^@=[]+)(?:\[[^\]]*\])?(?:==|@)(\d[^=@]*)$/.exec(pinned ?? "");
      if (found === null || !/^\d{4}-\d\d-\d\d$/.test(date ?? ""))
        throw new Error(
          `Cannot read .ci/clients.txt: a line must have an environment, a pinned package and a day, got ${line}`,
        );
      const [, name, version] = found;
      return { environment, name, version, date, npm: environment.startsWith("npm-") };
    });
}

/** The newest release; undefined where the registry does not say. */
async function newest({ name, npm }) {
  try {
    const [command, args] = npm
      ? ["npm", ["view", name, "version"]]
      : ["python3", ["-m", "pip", "index", "versions", name]];
    const { stdout } = await ask(command, args, { timeout: 60_000 });
    return npm ? stdout.trim() : /\(([^)]+)\)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

async function main() {
  const file = fileURLToPath(new URL("../../.ci/clients.txt", import.meta.url));
  const clients = readClients(readFileSync(file, "utf8"));
  const byName = new Map();
  for (const client of clients) {
    const key = `${client.npm ? "npm " : ""}${client.name}`;
    byName.set(key, [...(byName.get(key) ?? []), client]);
  }
  const rows = [];
  let silent = 0;
  for (const [name, pins] of byName) {
    const found = await newest(pins[0]);
    if (found === undefined) silent++;
    for (const { environment, version, date } of pins)
      if (found !== undefined && found !== version)
        rows.push(`| ${name} | ${environment} | ${version} | ${date} | ${found} |`);
  }
  console.log(
    `${byName.size} packages, ${rows.length} pins with another newest release, ${silent} not found out`,
  );
  if (rows.length === 0) return;
  console.log(
    "\n| package | environment | pinned | since | newest |\n| --- | --- | --- | --- | --- |",
  );
  console.log(rows.join("\n"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
