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

/** Values that the toolkit answers programs about. */
const toldGroups = new Set(["Trees", "Batches", "Runs"]);

type Tell = (value: unknown, ask: unknown) => unknown;

/** What the toolkit tells of one of its values as plain data; everything else a session holds is not told. */
async function tellValue(variables: Record<string, unknown>, name: string, ask: unknown) {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  // The toolkit leaves it there when its values are made.
  const tell = (globalThis as { [key: symbol]: Tell | undefined })[Symbol.for("arpo-lab.tell")];
  if (tell === undefined || !toldGroups.has(summarizeValue(value).group)) {
    throw new RangeError(
      `Cannot tell of ${name}: it must be a tree, trees, scored trajectories, a batch or an import of the session`,
    );
  }
  return await tell(value, ask);
}

/**
 * Answers a page that lists the session's values: `{ method: "list" }` is answered with all of them,
 * `{ method: "show", name }` shows one, as output of the message, `{ method: "tell", name, ask }` is answered with
 * what the toolkit tells of one, or with why it does not.
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
  const name = String(data["name"]);
  if (data["method"] === "tell") {
    const answer = await tellValue(variables, name, data["ask"]).then(
      (told) => ({ told }),
      (error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }),
    );
    comm.send({ method: "tell", ...answer });
    return;
  }
  if (data["method"] !== "show") return;
  if (!Object.hasOwn(variables, name)) {
    throw new ReferenceError(`Cannot show ${name}: the session has no such value any more`);
  }
  const value = variables[name];
  host.display((await formatValue(value)) ?? { "text/plain": "undefined" });
}
