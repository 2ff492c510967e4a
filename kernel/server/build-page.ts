import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../../kernel/server/page", import.meta.url));

/** Where what can be made again is kept. `ARPO_LAB_CACHE` overrides. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env["ARPO_LAB_CACHE"]) return env["ARPO_LAB_CACHE"];
  if (process.platform === "win32") {
    return join(env["LOCALAPPDATA"] ?? homedir(), "arpo-lab", "cache");
  }
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "arpo-lab");
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "arpo-lab");
}

function hashOf(files: string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const text = readFileSync(join(source, file));
    hash.update(`${file} ${text.length} `).update(text);
  }
  return hash.digest("hex").slice(0, 16);
}

async function run(command: string, args: string[], cwd: string): Promise<void> {
  const lines: string[] = [];
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && command === "npm",
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => lines.push(chunk.toString()));
  }
  const code = await new Promise<number | null>((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  if (code !== 0) {
    const tail = lines.join("").trim().slice(-3000);
    throw new Error(`Cannot build the page: ${command} ${args[0]} ended with ${code}:\n${tail}`);
  }
}

/**
 * The folder of the built page. It is built the first time, from packages that are fetched for that and
 * deleted again (`ARPO_LAB_PAGE_MODULES` names a folder that has them already); afterwards, and for
 * every copy of this version, it is there.
 */
export async function buildPage(options: { say?: (line: string) => void } = {}): Promise<string> {
  const say = options.say ?? (() => undefined);
  const sources = (readdirSync(join(source, "src"), { recursive: true }) as string[])
    .sort()
    .map((name) => join("src", name))
    .filter((name) => statSync(join(source, name)).isFile());
  const cache = cacheFolder();
  const page = join(cache, `page-${hashOf(["package-lock.json", "build.mjs", ...sources])}`);
  if (existsSync(page)) return page;
  mkdirSync(cache, { recursive: true });
  const work = join(cache, `work-${hashOf(["package-lock.json"])}-${process.pid}`);
  const made = join(work, "out");
  try {
    mkdirSync(work, { recursive: true });
    cpSync(source, work, {
      recursive: true,
      filter: (from) => !/[\\/]node_modules(?:$|[\\/])/.test(from.slice(source.length)),
    });
    const modules = process.env["ARPO_LAB_PAGE_MODULES"];
    if (modules === undefined) {
      say("Building the page, which happens once: fetching its packages (a minute or so) …");
      const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      await run("npm", ["ci", ...quiet], work);
    } else {
      symlinkSync(resolve(modules), join(work, "node_modules"), "junction");
    }
    say("Building the page: putting it together …");
    await run(process.execPath, ["build.mjs", made], work);
    try {
      renameSync(made, page);
    } catch (error) {
      // Two labs were started at once and the other one was faster.
      if (!existsSync(page)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return page;
}
