import { formatValue } from "../../display/format.js";
import { type ValueSummary, summarizeValue } from "../../display/summary.js";
import type { Comm, CommMessage, KernelHost } from "../../host/host.js";

/** What a list of values shows of a variable. */
interface ListedValue extends ValueSummary {
  name: string;
}

/** The variables of a session, each in a line; one that cannot be read yet is left out. */
function listValues(variables: Record<string, unknown>): ListedValue[] {
  const listed: ListedValue[] = [];
  for (const name of Object.keys(variables)) {
    let value: unknown;
    try {
      value = variables[name];
    } catch {
      continue; // declared by a cell that stopped before it had a value
    }
    if (value !== undefined) listed.push({ name, ...summarizeValue(value) });
  }
  return listed;
}

/**
 * Answers a page that lists the session's values: `{ method: "list" }` is answered with all of them,
 * `{ method: "show", name }` shows one, as output of the message.
 */
export async function answerValues(
  comm: Comm,
  { data }: CommMessage,
  host: KernelHost,
  variables: Record<string, unknown>,
): Promise<void> {
  if (data["method"] === "list") {
    comm.send({ method: "list", values: listValues(variables) });
    return;
  }
  if (data["method"] !== "show") return;
  const name = String(data["name"]);
  if (!Object.hasOwn(variables, name)) {
    throw new ReferenceError(`Cannot show ${name}: the session has no such value any more`);
  }
  const value = variables[name];
  host.display((await formatValue(value)) ?? { "text/plain": "undefined" });
}
