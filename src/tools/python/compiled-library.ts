// Pyodide's library has sources alone, so that every interpreter compiles a hundred modules when it starts, most of
// its start. The first interpreter of a machine leaves them compiled in the cache folder.
import { joinBytes } from "#platform/bytes";
import { isWritable, readFile } from "#platform/files";
import { join } from "#platform/path";
import { spawn } from "#platform/process";
import { sha256 } from "#platform/sha256";
import { makeFolder, writeDurably } from "../../../common/files/durable.js";
import { cacheFolder } from "../../base/files/home-path.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import type { ChildCommand } from "./child-process.js";
import { packing } from "./packing.js";

const longest = 64 << 20;

/** What a process writes; an error where it does not end well. */
function outputOf({ file, args, env }: ChildCommand): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    const parts: Uint8Array[] = [];
    let length = 0;
    child.stdout!.on("data", (part: Uint8Array) => {
      parts.push(part);
      length += part.length;
      if (length > longest) child.kill("SIGKILL");
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(joinBytes(parts)) : reject(new Error(`status ${code}`)),
    );
  });
}

const asked = new Map<string, Promise<string | undefined>>();

/**
 * The compiled library of a version of Pyodide, as this version of the tool uses it; made by `maker` where the cache
 * has none that is whole. Undefined where it cannot be kept: Python then starts from sources.
 */
export function compiledLibrary(version: string, maker: ChildCommand): Promise<string | undefined> {
  const name = `python-${version}-${sha256(packing).slice(0, 12)}.zip`;
  const path = join(cacheFolder(), name);
  const found = asked.get(path) ?? keep(path, maker).catch(() => undefined);
  asked.set(path, found);
  return found;
}

async function keep(path: string, maker: ChildCommand): Promise<string | undefined> {
  const sum = `${path}.sha256`;
  const saved = await readIfThere(sum);
  if (saved !== undefined) {
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes !== undefined && sha256(bytes) === saved) return path;
  }
  await makeFolder(cacheFolder());
  if (!(await isWritable(cacheFolder()))) return undefined;
  const bytes = await outputOf(maker);
  await writeDurably(path, bytes, 0o600);
  await writeDurably(sum, sha256(bytes), 0o600);
  return path;
}
