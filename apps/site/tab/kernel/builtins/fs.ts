import * as files from "../../../../../common/platform/browser/files.js";
import { randomUUID } from "../../../../../common/platform/browser/uuid.js";

type Options = { encoding?: string } | string | undefined;
const isText = (options: Options): boolean =>
  typeof options === "string" || typeof options?.encoding === "string";

function madeFolder(prefix: string): string {
  const path = `${prefix}${randomUUID().slice(0, 6)}`;
  files.mkdirSync(path, { recursive: true });
  return path;
}

const readFileSync = (path: string, options?: Options): string | Uint8Array =>
  isText(options) ? files.readFileSync(path, "utf8") : files.readFileSync(path);

/** `node:fs` as a notebook uses it. */
export const now = {
  existsSync: files.existsSync,
  mkdirSync: files.mkdirSync,
  mkdtempSync: madeFolder,
  readFileSync,
  readdirSync: files.readdirSync,
  renameSync: files.renameSync,
  rmSync: files.rmSync,
  statSync: files.statIfThereSync,
  unlinkSync: (path: string) => files.rmSync(path),
  writeFileSync: files.writeFileSync,
};

/** `node:fs/promises`. */
export const later = {
  access: files.access,
  appendFile: files.appendFile,
  copyFile: files.copyFile,
  mkdir: files.mkdir,
  mkdtemp: (prefix: string) => Promise.resolve(madeFolder(prefix)),
  readFile: (path: string, options?: Options) =>
    isText(options) ? files.readFile(path, "utf8") : files.readFile(path),
  readdir: files.readdir,
  rename: files.rename,
  rm: files.rm,
  stat: files.stat,
  unlink: (path: string) => files.rm(path),
  writeFile: files.writeFile,
};
