import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyNotebook, writeNotebook } from "../../kernel/notebook/write.js";
import { type NotebookFile, readNotebook } from "../../kernel/notebook/read.js";
import { temporaryFolder } from "../temporary.js";

/** The repository's root, seen from dist/tests/cli. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A new folder with a notebook of code cells; a cell is its source, or source and tags. */
export function notebookOf(...cells: (string | { source: string; tags: string[] })[]): string {
  const path = join(temporaryFolder("run"), "nb.ipynb");
  const file = emptyNotebook();
  file.notebook.cells = cells.map((cell, i) => ({
    cell_type: "code",
    execution_count: null,
    id: `cell-${i}`,
    metadata: typeof cell === "string" ? {} : { tags: cell.tags },
    outputs: [],
    source: typeof cell === "string" ? cell : cell.source,
  }));
  writeNotebook(path, file);
  return path;
}

/** How `arpo-lab run` ended. */
export interface Ran {
  code: number | null;
  signal: string | null;
  stderr: string;
}

interface Running {
  child: ChildProcess;
  ended: Promise<Ran>;
  heard: (text: string) => Promise<void>;
}

/** Starts `arpo-lab run` with arguments; `child` is there to be stopped. */
export function start(...args: string[]): Running {
  return startIn({}, ...args);
}

export function startIn(env: Record<string, string>, ...args: string[]): Running {
  const child = spawn(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stderr = "";
  const waiting: { text: string; done: () => void }[] = [];
  const take = (chunk: Buffer): void => {
    stderr += chunk.toString();
    for (const w of waiting) if (stderr.includes(w.text)) w.done();
  };
  child.stderr.on("data", take);
  const ended = new Promise<Ran>((done) => {
    child.once("close", (code, signal) => done({ code, signal, stderr }));
  });
  const heard = (text: string): Promise<void> =>
    new Promise((done) => (stderr.includes(text) ? done() : waiting.push({ text, done })));
  return { child, ended, heard };
}

/** Runs `arpo-lab run` to its end, with more in its environment. */
export function runIn(env: Record<string, string>, ...args: string[]): Promise<Ran> {
  return startIn(env, ...args).ended;
}

/** Runs `arpo-lab run` to its end. */
export function run(...args: string[]): Promise<Ran> {
  return start(...args).ended;
}

/** The text of each cell's outputs in a notebook's file, by cell. */
export function shown(path: string): string[] {
  return shownIn(readNotebook(path));
}

function shownIn({ notebook }: NotebookFile): string[] {
  const text = (value: unknown): string => (Array.isArray(value) ? value.join("") : String(value));
  return notebook.cells.map((cell) =>
    (cell.outputs ?? [])
      .map((output) => {
        if (output.output_type === "stream") return text(output.text);
        if (output.output_type === "error") return `${output.ename}: ${output.evalue}`;
        return text(output.data["text/plain"]);
      })
      .join("|"),
  );
}

/** Writes a file beside a notebook. */
export function writeBeside(notebook: string, name: string, text: string): string {
  const path = join(notebook, "..", name);
  writeFileSync(path, text);
  return path;
}
