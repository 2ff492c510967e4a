// What a power cut leaves of a folder, from the trace of `record.ts`.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { temporaryFolder } from "../temporary.js";

/** What a folder says of the names in it. */
export type Names = Record<string, { key: string; isFolder: boolean }>;

/** A line of the trace. */
export type Event =
  | { folder: string; names: Names }
  | { file: string; bytes: string }
  | { cut: string; root: string; tree: Record<string, Names> }
  | { acknowledged: unknown };

/**
 * How a disk treats what was not synced. `drops`: nothing of it is there. `removes`: removals are there, and nothing
 * else. `names`: every name is there, of files without what was not synced.
 */
const disks = ["drops", "removes", "names"] as const;

/** A folder as it is found after a power cut. */
export interface Survivor {
  why: string;
  disk: (typeof disks)[number];
  /** What the program had said by then. */
  acknowledged: unknown[];
  /** Relative paths, folders with an ending slash, with the names of what the trace kept of them. */
  files: Map<string, string | undefined>;
  /** Writes the folder anew. */
  restore(to: string): void;
}

/** Runs a program in a process that is recorded, in an empty folder: everything that a power cut may leave. */
export function survivorsOf(program: string, ...args: string[]): Survivor[] {
  const root = temporaryFolder("power");
  const trace = temporaryFolder("power-trace");
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const recorder = pathToFileURL(here("record.js")).href;
  const ran = spawnSync(process.execPath, [here(`work/${program}.js`), root, ...args], {
    encoding: "utf8",
    env: {
      ...process.env,
      POWER_CUT: JSON.stringify({ root, trace }),
      NODE_OPTIONS: `--import ${recorder}`,
    },
  });
  if (ran.status !== 0) throw new Error(`${program} must end well, got ${ran.stderr}`);
  return survivors(trace);
}

/** The distinct states, in the order of the cuts. */
function survivors(trace: string): Survivor[] {
  const folders = new Map<string, Names>();
  const bytes = new Map<string, string>();
  const acknowledged: unknown[] = [];
  const seen = new Set<string>();
  const found: Survivor[] = [];
  for (const line of readFileSync(join(trace, "events.jsonl"), "utf8").trimEnd().split("\n")) {
    const event = JSON.parse(line) as Event;
    if ("folder" in event) folders.set(event.folder, event.names);
    else if ("file" in event) bytes.set(event.file, event.bytes);
    else if ("acknowledged" in event) acknowledged.push(event.acknowledged);
    else {
      for (const disk of disks) {
        const files = filesOf(event, disk, folders, bytes);
        const state = JSON.stringify([acknowledged.length, [...files]]);
        const print = createHash("sha256").update(state).digest("hex");
        if (seen.has(print)) continue;
        seen.add(print);
        found.push({
          ...{ why: event.cut, disk, files, acknowledged: [...acknowledged] },
          restore: (to) => write(trace, files, to),
        });
      }
    }
  }
  return found;
}

function filesOf(
  { root, tree }: Extract<Event, { cut: string }>,
  disk: Survivor["disk"],
  synced: ReadonlyMap<string, Names>,
  bytes: ReadonlyMap<string, string>,
): Survivor["files"] {
  const files: Survivor["files"] = new Map();
  const there = new Set(
    Object.values(tree).flatMap((names) => Object.values(names).map(({ key }) => key)),
  );
  const isRemoved = (folder: string, name: string, key: string) =>
    disk === "removes" && tree[folder]?.[name] === undefined && !there.has(key);
  const walk = (folder: string, above: string): void => {
    const names = (disk === "names" ? tree[folder] : synced.get(folder)) ?? {};
    for (const [name, { key, isFolder }] of Object.entries(names).sort()) {
      if (isRemoved(folder, name, key)) continue;
      if (isFolder) {
        files.set(`${above}${name}/`, undefined);
        walk(key, `${above}${name}/`);
      } else files.set(above + name, bytes.get(key));
    }
  };
  walk(root, "");
  return files;
}

function write(trace: string, files: Survivor["files"], to: string): void {
  mkdirSync(to, { recursive: true });
  for (const [name, bytes] of files) {
    const path = join(to, name);
    if (name.endsWith("/")) mkdirSync(path, { recursive: true });
    else if (bytes === undefined) writeFileSync(path, "");
    else copyFileSync(join(trace, bytes), path);
  }
}
