import { askTerminal } from "#platform/terminal";
import { currentHost } from "../host/host.js";

async function ask(message = "", options: { password?: boolean } = {}): Promise<string> {
  const host = currentHost();
  if (host !== undefined) return host.input(message, options);
  return await askTerminal(message);
}

function askSync(message = "", options: { password?: boolean } = {}): string {
  const host = currentHost();
  if (host === undefined) {
    throw new Error("Cannot ask: prompt.sync must run in a kernel, got a plain Node program");
  }
  return host.inputSync(message, options);
}

/**
 * Asks the person at the notebook and waits for the answer; `prompt.sync` blocks like a browser's.
 *
 * @example
 * ```ts
 * import { prompt } from "arpo-lab/kernel";
 *
 * const greet = async () => `Hello ${await prompt("Your name? ")}`;
 * const unlock = async () => await prompt("Key: ", { password: true });
 * ```
 */
export const prompt = Object.assign(ask, { sync: askSync });
