import { freePorts } from "../kernel/client/kernel-process.js";

/** A port of this machine that nobody listens at, for a program that cannot be asked for its port. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}
