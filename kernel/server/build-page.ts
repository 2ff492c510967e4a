import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "#platform/files";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../host/cache-folder.js";

const source = fileURLToPath(new URL("../../../kernel/server/page", import.meta.url));
/** Where a package has the page, below its name; a clone has its sources instead. */
const shipped = fileURLToPath(new URL("../../lab-page", import.meta.url));

function hashOf(files: string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const text = readFileSync(join(source, file));
    hash.update(`${file} ${text.length} `).update(text);
  }
  return hash.digest("hex").slice(0, 16);
}

async function run(
  command: string,
  args: string[],
  cwd: string,
  heard: (line: string) => void = () => undefined,
): Promise<void> {
  const lines: string[] = [];
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && command === "npm",
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      lines.push(chunk.toString());
      heard(chunk.toString());
    });
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

/** Says how far npm is, from the lines it writes about what it fetches: every quarter of all packages. */
function fetchProgress(all: number, say: (line: string) => void): (text: string) => void {
  let fetched = 0;
  let said = 0;
  return (text) => {
    fetched += text.match(/http (?:fetch GET 200|cache) \S+\.tgz/g)?.length ?? 0;
    const quarters = Math.min(3, Math.floor((4 * fetched) / all));
    if (quarters <= said) return;
    said = quarters;
    say(`Building the page: ${fetched} of ${all} packages are here …`);
  };
}

/** How many packages the page is made of, most of which its build fetches. */
function packageCount(): number {
  const text = readFileSync(join(source, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, unknown> };
  return Object.keys(packages).length - 1;
}

/**
 * The folder of the built page. A package brings it. In a clone it is built the first time, from packages
 * that are fetched for that and deleted again (`ARPO_LAB_PAGE_MODULES` names a folder that has them
 * already); afterwards, and for every copy of this version, it is there.
 */
export async function buildPage(options: { say?: (line: string) => void } = {}): Promise<string> {
  if (!existsSync(source)) return join(shipped, readdirSync(shipped)[0]!);
  const say = options.say ?? (() => undefined);
  const sources = (readdirSync(join(source, "src"), { recursive: true }) as string[])
    .sort()
    .map((name) => join("src", name))
    .filter((name) => statSync(join(source, name)).isFile());
  const cache = cacheFolder();
  const page = join(
    cache,
    `page-${hashOf(["package-lock.json", "build.mjs", "notices.mjs", ...sources])}`,
  );
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
      const all = packageCount();
      say(`Building the page, which happens once: fetching ${all} packages (a minute or so) …`);
      const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=http"];
      await run("npm", ["ci", ...options], work, fetchProgress(all, say));
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
