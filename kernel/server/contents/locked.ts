import {
  closeSync,
  lstatIfThereSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "#platform/files";
import { hostname, isRunning, processId } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Place } from "./place.js";

/** For how long one lab waits for another that is saving the same file, in milliseconds. */
const patience = 10_000;
/** A lock without a holder's name was left by one that was killed as it made it, after so many milliseconds. */
const nameless = 2000;

/** Whether whoever made the lock is gone. */
function isLeft(lock: Place): boolean {
  const status = lock.status();
  if (status === undefined) return false;
  if (!status.isFile())
    throw new ErrorResponse(409, `Cannot save ${lock.path}: its lock is no file`);
  const [host, pid] = readFileSync(lock.at, "utf8").split(" ");
  if (pid === undefined) return Date.now() - status.mtimeMs > nameless;
  return host === hostname() && !isRunning(Number(pid));
}

/** Takes away the lock of one that is gone; of two that find it only one can. */
function takeAway(lock: Place): void {
  const seen = lock.status()?.ino;
  const away = lock.beside(`${lock.name}.${randomUUID().slice(0, 8)}`);
  try {
    if (isLeft(lock) && lstatIfThereSync(lock.at)?.ino === seen) renameSync(lock.at, away.at);
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
  }
  rmSync(away.at, { force: true });
}

function made(lock: Place): boolean {
  let file: number;
  try {
    file = openSync(lock.at, "wx");
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(file, `${hostname()} ${processId}`);
  } finally {
    closeSync(file);
  }
  return true;
}

/** Does something with a file while no other lab, in whatever process, changes the same one. */
export async function locked<T>(place: Place, act: () => Promise<T>): Promise<T> {
  const lock = place.beside(`.${place.name}.lock`);
  const until = Date.now() + patience;
  while (!made(lock)) {
    if (isLeft(lock)) takeAway(lock);
    else if (Date.now() > until) {
      const why = `another lab is saving it (delete ${lock.name} beside it if none is)`;
      throw new ErrorResponse(409, `Cannot save ${place.path}: ${why}`);
    }
    await new Promise((done) => setTimeout(done, 5 + Math.random() * 20));
  }
  try {
    return await act();
  } finally {
    rmSync(lock.at, { force: true });
  }
}
