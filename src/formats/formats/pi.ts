import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import { chatOf, type FileRecord, numberIn, numbersIn } from "../row/fields.js";
import type { ImportedRow, Understood } from "../row/imported-row.js";
import type { RecordsTogether, RolloutFormat } from "./format.js";

const roles: Readonly<Record<string, string>> = { toolResult: "tool", bashExecution: "user" };

/** A session has so many entries and no more, and so many on the ways to all of its ends. */
const longest = 100_000;
const mostWalked = 1_000_000;

function messageOf(entry: FileRecord): FileRecord[] {
  const message = entry["message"];
  if (entry["type"] !== "message" || !isRecord(message)) return [];
  const { role, toolCallId, toolName, content } = message;
  return [
    {
      ...{ role: roles[String(role)] ?? String(role), content: content ?? "" },
      ...defined({ tool_call_id: toolCallId, name: toolName }),
    },
  ];
}

/** Entries name the one before them, so that a session is a tree: a trajectory for each of its ends. */
class Session implements RecordsTogether {
  #head: FileRecord | undefined;
  #entries = new Map<string, FileRecord>();
  #walked = 0;

  add(record: FileRecord): Understood | undefined {
    if (record["type"] === "session") {
      const before = this.end();
      this.#head = record;
      this.#walked = 0;
      this.#entries = new Map();
      return before;
    }
    if (this.#entries.size >= longest)
      throw new RangeError(`a session must have at most ${longest} entries, got more`);
    this.#entries.set(String(record["id"]), record);
    return undefined;
  }

  end(): Understood | undefined {
    const entries = [...this.#entries.values()];
    const inner = new Set(entries.map(({ parentId }) => String(parentId)));
    const leaves = entries.filter(({ id }) => !inner.has(String(id)));
    const rows = leaves.flatMap((leaf) => this.#rowOf(leaf));
    return rows.length === 0 ? undefined : { rows };
  }

  #rowOf(leaf: FileRecord): ImportedRow[] {
    const path: FileRecord[] = [];
    const passed = new Set<FileRecord>();
    for (
      let entry: FileRecord | undefined = leaf;
      entry !== undefined;
      entry = this.#entries.get(String(entry["parentId"]))
    ) {
      if (passed.has(entry)) {
        throw new RangeError(`parentId must name an entry before it, got a circle at ${String(entry["id"])}`); // prettier-ignore
      }
      passed.add(entry);
      if (++this.#walked > mostWalked) {
        throw new RangeError(`the ways to a session's ends must have at most ${mostWalked} entries, got more`); // prettier-ignore
      }
      path.push(entry);
    }
    const said = path.reverse().flatMap(messageOf);
    if (said.length === 0) return [];
    const messages = chatOf(said, "message");
    const first = messages.findIndex(({ role }) => role === "assistant");
    if (first < 0) return [];
    const { trackio } = this.#head ?? {};
    const logged = isRecord(trackio) ? trackio : {};
    const metadata = isRecord(logged["metadata"]) ? logged["metadata"] : {};
    const { group } = metadata;
    return [
      {
        prompt: first === 0 ? "" : messages.slice(0, first),
        parts: [],
        messages: messages.slice(first),
        ...(typeof group === "string" ? { group } : {}),
        ...defined({
          step: numberIn(logged["step"]),
          score: numberIn(metadata["reward"] ?? metadata["score"]),
        }),
        numbers: numbersIn(metadata),
      },
    ];
  }
}

/** Sessions as Pi keeps them, and trackio, which writes its traces in the same form. */
export const piSessions: RolloutFormat = {
  name: "pi",
  title: "Pi's and trackio's sessions",
  fits: (record) =>
    record["type"] === "session"
      ? "version" in record && "id" in record
      : typeof record["type"] === "string" && "id" in record && "parentId" in record,
  read: () => undefined,
  together: () => new Session(),
  says: {
    parents: "parentId of an entry",
    "tool results": "messages of the role toolResult",
    rewards: "reward or score of trackio's metadata, where the caller gave one",
    steps: "step of trackio",
  },
};
