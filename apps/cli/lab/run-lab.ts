import { buildPage } from "../../../kernel/server/build-page.js";
import { LabServer } from "../../../kernel/server/lab-server.js";
import type { SaveReport } from "../../../kernel/server/lab/pages.js";
import { dataFolder } from "../../../kernel/wire/process/folders.js";
import { packagePath } from "../../../common/platform/node/modules.js";
import { aside, say } from "../terminal/say.js";
import { copyLessons, lessonCopies, shippedLessons } from "./lesson-copies.js";
import { openBrowser } from "./open-browser.js";
import { sayRunning } from "./running-labs.js";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** What the lab of a clone of this repository opens with, and which files it does not list. */
export interface OwnClone {
  first: string;
  unlisted: string[];
  /** The shipped lessons and their index, by name. */
  lessons: string[];
}

/** Undefined where the folder is no clone of this repository, or Git cannot say what is in it. */
export function ownClone(folder: string): OwnClone | undefined {
  if (resolve(folder) !== resolve(packagePath(".")) || !existsSync(join(folder, ".git"))) {
    return undefined;
  }
  const { status, stdout } = spawnSync("git", ["ls-files", "-z"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (status !== 0) return undefined;
  const tracked = stdout.split("\0").map((path) => path.split("/"));
  return {
    first: `${lessonCopies}/00-tour.ipynb`,
    unlisted: [...new Set([...tracked.map(([top]) => top!), "node_modules", "dist"])],
    lessons: tracked.flatMap(([top, name, below]) =>
      top === shippedLessons && name !== undefined && below === undefined ? [name] : [],
    ),
  };
}

const first = 49_152;
const last = 65_535;

/**
 * The port that a folder's lab asks for first: always the same, so that the browser has the page's
 * scripts, compiled, from the time before.
 */
export function usualPort(folder: string): number {
  const number = createHash("sha256").update(folder).digest().readUInt32BE(0);
  return first + (number % (last - first + 1));
}

export interface LabCommandOptions {
  dir?: string;
  port?: number;
  host: string;
  allowHost: string[];
  token?: string;
  browser: boolean;
  cullIdle?: number;
  allFiles?: boolean;
}

/** Serves the lab until it is told to stop. */
export async function runLab(options: LabCommandOptions): Promise<void> {
  // npm runs scripts in the package's folder and says where it was called.
  const folder = resolve(process.env["INIT_CWD"] ?? ".", options.dir ?? ".");
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new RangeError(`Cannot open the lab: --dir must be a folder, got ${folder}`);
  }
  const clone = ownClone(folder);
  if (clone !== undefined) copyLessons(folder, clone.lessons);
  const page = await buildPage({ say });
  const start = async (port: number): Promise<LabServer> =>
    await LabServer.start({
      folder,
      page,
      docs: {
        site: fileURLToPath(new URL("../../../docs", import.meta.url)),
        pages: fileURLToPath(new URL("../../../../docs", import.meta.url)),
      },
      port,
      host: options.host,
      allowHosts: options.allowHost,
      token: options.token,
      cullIdle: options.cullIdle,
      data: dataFolder(),
      unlisted: options.allFiles === true ? [] : clone?.unlisted,
      lessons: clone && { copies: lessonCopies, shipped: shippedLessons },
    });
  const server = await start(options.port ?? usualPort(folder)).catch(async (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (options.port !== undefined || (code !== "EADDRINUSE" && code !== "EACCES")) throw error;
    return await start(0);
  });
  const takeBack = sayRunning({
    ...{ url: server.url, folder: realpathSync(folder), token: server.agentToken },
    ...{ pid: process.pid, started: new Date().toISOString() },
  });
  const first = clone === undefined ? "" : `/tree/${clone.first}`;
  const url = `${server.url}lab${first}?token=${encodeURIComponent(server.token)}`;
  const shown = clone === undefined || options.allFiles ? "" : "the lessons and your files in ";
  if (clone !== undefined)
    say(`You edit copies of the lessons, in ${join(folder, lessonCopies)}, which Git ignores.`);
  say(`The lab shows ${shown}${folder}. Ctrl-C stops it.\n${url}`);
  if (options.browser) openBrowser(url);
  const signal = await new Promise<string>((stop) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(name, () => stop(name));
  });
  const { length } = server.kernels.list;
  say(`\nStopping on ${signal}${length > 0 ? `; ending ${length} kernel(s)` : ""}.`);
  takeBack();
  tell(await server.saveAll());
  await server.stop();
}

/** What became of documents that were not saved when the lab was stopped. */
function tell({ saved, kept, failed, silent }: SaveReport): void {
  for (const path of saved) say(`Saved ${path}.`);
  for (const { path, as } of kept) say(`${path} could not be saved; it is in ${as}.`);
  for (const { path, reason } of failed) aside(`${path} could not be saved: ${reason}`);
  if (silent > 0) aside(`${silent} page(s) did not answer; they keep what is not saved.`);
}
