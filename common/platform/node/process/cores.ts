import { availableParallelism } from "node:os";

/** How many threads can work at one time on the same memory. */
export function cores(): number {
  return availableParallelism();
}

/** Whether threads can work on the same memory at all. */
export function sharesMemory(): boolean {
  return true;
}
