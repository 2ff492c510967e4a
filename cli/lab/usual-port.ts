import { createHash } from "node:crypto";

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
