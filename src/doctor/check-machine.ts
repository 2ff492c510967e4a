import type { Check } from "./check.js";
import { type EndpointToCheck, endpointCheck } from "./machine/endpoints.js";
import { hostChecks } from "./machine/host.js";
import { keyChecks } from "./machine/keys.js";
import { programChecks } from "./machine/programs.js";
import { tensorChecks } from "./machine/tensors.js";

export interface MachineOptions {
  /** Endpoints to try. */
  endpoints?: readonly EndpointToCheck[];
  /** Environment variables that must hold keys. */
  keys?: readonly string[];
}

/**
 * What this machine has, what will be slow on it, and what helps.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkMachine } from "arpo-lab/experimental/doctor";
 *
 * const checks = await checkMachine();
 * assert.equal(checks.find(({ id }) => id === "node")?.status, "ok");
 * assert.ok(checks.some(({ id }) => id === "backend"));
 * ```
 */
export async function checkMachine({ endpoints = [], keys }: MachineOptions = {}): Promise<
  Check[]
> {
  // One after another: the trial of the tensors wants the machine for itself.
  const host = await hostChecks();
  const tensors = await tensorChecks();
  const programs = await programChecks();
  const reached = await Promise.all(endpoints.map((endpoint) => endpointCheck(endpoint)));
  return [...host, ...tensors, ...programs, ...reached, ...keyChecks(keys)];
}
