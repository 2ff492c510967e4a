import type { MessagePort } from "node:worker_threads";

type Handles = () => object[];

/**
 * Keeps the kernel's own ports out of what a program finds when it looks for everything that keeps its
 * process alive, to close it: without them no cell runs any more.
 */
export function hideOwnHandles(...ports: MessagePort[]): void {
  const inner = process as unknown as { _getActiveHandles: Handles };
  const all = inner._getActiveHandles.bind(process);
  const isPort = (handle: object): boolean => handle.constructor.name === "MessagePort";
  const own = new Set<object>([...ports, ...all().filter(isPort)]);
  inner._getActiveHandles = () => all().filter((handle) => !own.has(handle));
}
