// The search cache, a file that several processes append to: killed, cut, flipped, on a full disk.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AppendStore } from "../../../src/tools/search/append-store.js";
import { remount, smallDisk } from "../../small-disk.js";
import { until } from "../../until.js";
import { type Area, type Attempt, Broken, type Place } from "../attempt.js";

const value = (key: string, size: number) => `${key}-${"é".repeat(size)}`;

/** Processes that write keys of their own and say which they have written, and are killed. */
async function killed(place: Place, writers: number, size: number, ms: number): Promise<string> {
  const module = new URL("../../../src/tools/search/append-store.js", import.meta.url).href;
  const program = `const { AppendStore } = await import(${JSON.stringify(module)});
const [, path, name] = process.argv;
const store = new AppendStore(path);
for (let n = 0; ; n++) { const key = name + n; store.set(key, key + "-" + "é".repeat(${size})); process.stdout.write(key + "\\n"); if (n % 50 === 0) await new Promise((d) => setTimeout(d, 1)); }`;
  const path = place.path("cache");
  const said = Array.from({ length: writers }, () => "");
  const children = said.map((_, i) => {
    const args = ["--input-type=module", "-e", program, path, `w${i}-`];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    place.after(() => child.kill("SIGKILL"));
    child.stdout.on("data", (data: Buffer) => (said[i] += data.toString()));
    return child;
  });
  await until(() => said.every((text) => text.includes("\n")), "first keys");
  await pause(ms);
  await Promise.all(
    children.map((child) => {
      const closed = new Promise((done) => child.once("close", done));
      child.kill("SIGKILL");
      return closed;
    }),
  );
  const store = new AppendStore<string>(path);
  place.after(() => store.close());
  // The last line that came may be a part of one.
  const keys = said.flatMap((text) => text.slice(0, text.lastIndexOf("\n")).split("\n"));
  for (const key of keys) {
    if (store.get(key) !== value(key, size)) throw new Broken("lost", `${key} of ${keys.length}`);
  }
  store.set("next", "here");
  assert.equal(store.get("next"), "here");
  return `${keys.length} entries`;
}

function damaged(place: Place, at: number, isCut: boolean): string {
  const path = place.path("cache");
  const store = new AppendStore<string>(path);
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  for (const key of keys) store.set(key, value(key, 20));
  store.close();
  const size = statSync(path).size;
  const offset = Math.floor(at * size);
  if (isCut) truncateSync(path, offset);
  else {
    const bytes = readFileSync(path);
    bytes[offset]! ^= 1 << (Math.floor(at * 1e6) % 8);
    writeFileSync(path, bytes);
  }
  const again = new AppendStore<string>(path);
  const right = keys.filter((key) => again.get(key) === value(key, 20));
  // Of a cut all whole lines are there, of a flipped bit all others.
  const least = isCut ? Math.floor((offset / size) * 50) - 1 : 48;
  if (right.length < least) throw new Broken("lost", `${right.length} of at least ${least}`);
  again.set("next", "here");
  assert.equal(again.get("next"), "here");
  again.close();
  const third = new AppendStore<string>(path);
  assert.equal(third.get("next"), "here");
  third.close();
  return `${right.length} of 50 entries are there`;
}

async function full(place: Place): Promise<string> {
  const disk = await smallDisk(place, 1);
  if (disk === undefined) throw new Broken("skipped", "no disk can be mounted");
  const store = new AppendStore<string>(join(disk, "cache"));
  place.after(() => store.close());
  let count = 0;
  let said = "";
  while (said === "" && count < 1000) {
    try {
      store.set(`k${count}`, value(`k${count}`, 5000));
      count++;
    } catch (error) {
      said = (error as Error).message;
    }
  }
  assert.match(said, /ENOSPC|must fit/);
  remount(disk, "size=4m");
  store.set("next", "here");
  const again = new AppendStore<string>(join(disk, "cache"));
  for (let i = 0; i < count; i++) {
    if (again.get(`k${i}`) !== value(`k${i}`, 5000)) throw new Broken("lost", `k${i} of ${count}`);
  }
  assert.equal(again.get("next"), "here");
  again.close();
  return `${count} entries, then ${said}`;
}

export const cache: Area = {
  name: "cache",
  share: 3,
  seconds: 60,
  make: (random): Attempt => {
    const [writers, size, ms] = [1 + random.integer(3), random.integer(5000), random.integer(300)];
    const at = random.uniform();
    return random.choose([
      {
        name: `${writers} writers of ${size} characters, killed after ${ms} ms`,
        promise: "every entry that was written is there",
        run: (place) => killed(place, writers, size, ms),
      },
      {
        name: `a cut at ${(100 * at).toFixed(1)} %`,
        promise: "the entries before it are there, and it can be written to",
        run: async (place) => Promise.resolve(damaged(place, at, true)),
      },
      {
        name: `a flipped bit at ${(100 * at).toFixed(1)} %`,
        promise: "the other entries are there, and it can be written to",
        run: async (place) => Promise.resolve(damaged(place, at, false)),
      },
      {
        name: "a full disk",
        promise: "the error is told, earlier entries stay, and with room it goes on",
        run: full,
      },
    ]);
  },
};
