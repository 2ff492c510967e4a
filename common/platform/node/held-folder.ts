// A folder held open, so that what is done in it happens there even if its path leads elsewhere by then.
import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";

export interface HeldFolder {
  /** Its address: a name below it is a name in this very folder. */
  readonly path: string;
  /** A folder in it. A link of that name is refused (ENOTDIR). */
  folder(name: string): HeldFolder;
  /** Throws where the address leads to another folder by now. */
  check(): void;
  /** Whether a file that was opened by a name in it is the one that has this name in this very folder. */
  holds(name: string, file: { ino: number }): boolean;
  close(): void;
}

const folderOnly = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Linux addresses an open folder by its descriptor, which no rename and no link can lead elsewhere. */
function byDescriptor(at: string): HeldFolder {
  const fd = openSync(at, folderOnly);
  const path = `/proc/self/fd/${fd}`;
  return {
    path,
    folder: (name) => byDescriptor(`${path}/${name}`),
    check: () => undefined,
    holds: () => true,
    close: () => closeSync(fd),
  };
}

const moved = (path: string): Error =>
  Object.assign(new Error(`ENOTDIR: not the folder that was opened, lstat '${path}'`), {
    code: "ENOTDIR",
  });

/** Elsewhere it is addressed by its path: whether that is still the same folder is checked before and after. */
function byPath(path: string): HeldFolder {
  const { ino, dev } = lstatSync(path, { bigint: true });
  const check = (): void => {
    const now = lstatSync(path, { bigint: true });
    const same = now.isDirectory() && now.ino === ino && now.dev === dev;
    if (!same || realpathSync(path) !== path) throw moved(path);
  };
  check();
  return {
    path,
    check,
    // The folder may have been another one for just as long as the file was opened.
    holds: (name, file) => {
      const now = lstatSync(join(path, name));
      check();
      return now.ino === file.ino;
    },
    folder: (name) => {
      check();
      const inner = byPath(join(path, name));
      check();
      return inner;
    },
    close: () => undefined,
  };
}

/** Whether an open folder can be addressed by its descriptor here. */
const descriptors = ((): boolean => {
  if (process.platform !== "linux") return false;
  try {
    const fd = openSync("/", folderOnly);
    try {
      const there = lstatSync(`/proc/self/fd/${fd}/.`);
      return there.ino === fstatSync(fd).ino;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
})();

/** Holds a folder, given by its real path. */
export const holdFolder: (path: string) => HeldFolder = descriptors ? byDescriptor : byPath;

/** As `holdFolder` does it where an open folder has no address of its own. */
export const holdFolderByPath: (path: string) => HeldFolder = byPath;
