import { setMaxListeners } from "node:events";

/** Many will listen to this signal, and that is no leak. */
export function expectManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}
