import { noteOutside } from "#platform/note";

/** A full pipe that nobody reads would stop the thread, and strangers could fill it. */
const MOST = 50;
let lines = 0;

/**
 * A line for whoever started the kernel. It goes straight to the file: `process.stderr` belongs to the
 * cells.
 */
export function log(text: string): void {
  if (++lines > MOST) return;
  const last = lines === MOST ? " (no more of these will be told)" : "";
  noteOutside(`[arpo-lab kernel] ${text}${last}`);
}
