import { checkOptions, integer } from "../../common/options/check-options.js";
import { utf8Text } from "#platform/bytes";
import {
  type FileHandle,
  open,
  readdir,
  readNoFollow,
  realpath,
  realpathSync,
} from "#platform/files";
import { isAbsolute, relative, resolve, sep } from "#platform/path";
import type { Tool } from "./tool.js";

export interface FileToolOptions {
  /** The folder whose files may be read. */
  folder: string;
  /** Characters shown of a file. Default 20,000. */
  maxLength?: number;
  /** The tag the model calls it by. Default: `file`. */
  tag?: string;
}

/** The path inside the folder, or undefined when it leads out of it. */
async function inside(root: string, path: string): Promise<string | undefined> {
  const wanted = resolve(root, path);
  // A link may lead anywhere, so what counts is where the path really ends.
  const real = await realpath(wanted);
  const from = relative(root, real);
  return from === "" || (!from.startsWith(`..${sep}`) && from !== ".." && !isAbsolute(from))
    ? real
    : undefined;
}

/**
 * Reads files of one folder, and lists its folders; links that lead out of it do not count as inside.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { fileTool, ToolSet } from "arpo-lab/tools";
 *
 * const folder = mkdtempSync(join(tmpdir(), "notes-"));
 * writeFileSync(join(folder, "note.txt"), "remember");
 * const tools = new ToolSet([fileTool({ folder })]);
 * assert.equal((await tools.call("file", "note.txt")).text, "remember");
 * assert.match((await tools.call("file", "../etc/passwd")).text, /^Error: /);
 * ```
 */
export function fileTool(options: FileToolOptions): Tool {
  checkOptions("make a file tool", options, {
    folder: "path",
    maxLength: integer(1),
    tag: "text?",
  });
  const { folder, maxLength = 20_000, tag = "file" } = options;
  const root = realpathSync(folder);
  return {
    name: "file_reader",
    tag,
    description: "Reads a text file by its path, or lists a folder.",
    execute: async (input) => {
      const path = input.trim() || ".";
      const refused = `Error: no file at ${path}`;
      if (path.includes("\0")) return refused;
      try {
        const real = await inside(root, path);
        if (real === undefined) return refused;
        // Opened first and asked afterwards, so that what is read is what was checked.
        const file = await open(real, readNoFollow);
        try {
          const stat = await file.stat();
          if (stat.isDirectory()) return await list(real);
          if (!stat.isFile()) return refused;
          return await readText(file, stat.size, maxLength);
        } finally {
          await file.close();
        }
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"].includes(code ?? ""))
          return refused;
        throw error;
      }
    },
  };
}

async function list(path: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  return names.sort().join("\n") || "(empty folder)";
}

async function readText(file: FileHandle, size: number, maxLength: number): Promise<string> {
  const buffer = new Uint8Array(Math.min(size, 4 * maxLength));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const bytes = buffer.subarray(0, bytesRead);
  if (bytes.includes(0)) return "Error: not a text file";
  const text = utf8Text(bytes);
  return text.length > maxLength || bytesRead < size
    ? `${text.slice(0, maxLength)}\n[file cut: ${size} bytes in all]`
    : text || "(empty file)";
}
