import type { BoardPayload } from "../payload.js";

/** How far the run of a board has come, while it continues or was stopped. */
export function comeWords({ to, total, stopped }: BoardPayload): string {
  if (stopped !== undefined) return `stopped at step ${stopped}`;
  return total === undefined ? "" : `step ${to} of ${total}`;
}
