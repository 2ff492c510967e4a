import {
  type Comm,
  type CommMessage,
  type CommOptions,
  type Comms,
  currentHost,
} from "../host/host.js";

function hostComms(): Comms {
  const host = currentHost();
  if (host === undefined) {
    throw new Error("Cannot use comms: a front end must be there, got a plain Node program");
  }
  return host.comms;
}

/**
 * Channels between this session and the page: open one, or let the page open one.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { comms } from "arpo-lab/kernel";
 *
 * const serve = () => comms.register("echo", (comm) => {
 *   comm.onMessage = ({ data }) => comm.send(data);
 * });
 * assert.throws(serve, /a front end must be there/); // this example runs outside a kernel
 * ```
 */
export const comms: Comms = {
  open: (
    target: string,
    data?: Record<string, unknown>,
    options?: CommOptions & { id?: string },
  ): Comm => hostComms().open(target, data, options),
  register: (target: string, opened: (comm: Comm, message: CommMessage) => void): void =>
    hostComms().register(target, opened),
  unregister: (target: string): void => hostComms().unregister(target),
  get all(): ReadonlyMap<string, Comm> {
    return currentHost()?.comms.all ?? new Map<string, Comm>();
  },
};
