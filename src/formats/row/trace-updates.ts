import { isRecord } from "../../../common/options/is-record.js";
import type { FileRecord } from "./fields.js";

/** Streams over a branch's tokens that trees have a place for. */
const streams = ["advantages", "entropies"] as const;

/** What was learned of a branch: a number for each of its tokens, NaN where there is none. */
interface BranchUpdate {
  index: number;
  values: Partial<Record<(typeof streams)[number], Float32Array>>;
}

/** A record of prime-rl's `annotations`: facts about a trace that came after it was written. */
const isUpdate = ({ version, trace_id: trace, branches, nodes }: FileRecord): boolean =>
  version === 1 && typeof trace === "string" && Array.isArray(branches) && nodes === undefined;

function branchOf(branch: unknown): BranchUpdate[] {
  if (!isRecord(branch) || !Number.isSafeInteger(branch["index"])) return [];
  const values: BranchUpdate["values"] = {};
  for (const name of streams) {
    const given = branch[name];
    if (!Array.isArray(given) || given.length === 0) continue;
    values[name] = Float32Array.from(given, (value) => (typeof value === "number" ? value : NaN));
  }
  return [{ index: branch["index"] as number, values }];
}

/** The paths from a root to each leaf, as indices of nodes: branches, in the order of their leaves. */
function branchPaths(nodes: readonly FileRecord[]): number[][] {
  const parentOf = ({ parent }: FileRecord) => (typeof parent === "number" ? parent : -1);
  const inner = new Set(nodes.map(parentOf));
  return nodes.flatMap((_, leaf) => {
    if (inner.has(leaf)) return [];
    const path: number[] = [];
    // A parent stands before its child, as the trace's own check demands.
    for (let at = leaf; at >= 0;) {
      path.push(at);
      const parent = parentOf(nodes[at]!);
      at = parent < at ? parent : -1;
    }
    return [path.reverse()];
  });
}

/**
 * What prime-rl wrote about traces after their record: advantages and entropies, one per token of a branch. They
 * are laid onto the nodes that the model wrote; where several say something, the newest wins.
 */
export class TraceUpdates {
  readonly #byTrace = new Map<string, BranchUpdate[]>();

  /** Takes a record in, if it is one of these. */
  add(record: FileRecord): boolean {
    if (!isUpdate(record)) return false;
    const trace = record["trace_id"] as string;
    const all = this.#byTrace.get(trace) ?? [];
    all.push(...(record["branches"] as unknown[]).flatMap(branchOf));
    this.#byTrace.set(trace, all);
    return true;
  }

  /** A trace with what was learned of it. */
  of(trace: FileRecord): FileRecord {
    const updates = this.#byTrace.get(String(trace["id"]));
    const nodes = trace["nodes"];
    if (!updates || !Array.isArray(nodes) || !nodes.every(isRecord)) return trace;
    const paths = branchPaths(nodes);
    const told = nodes.map((node) => ({ ...node }));
    for (const { index, values } of updates) {
      for (const name of streams) {
        const stream = values[name];
        let at = 0;
        for (const id of stream ? (paths[index] ?? []) : []) {
          const { token_ids: ids, mask } = nodes[id]!;
          const count = Array.isArray(ids) ? ids.length : 0;
          const span = stream!.subarray(at, at + count);
          at += count;
          if (span.length < count) break; // a stream that was cut leaves the rest as it was
          const own = [...span].filter((_, i) => Array.isArray(mask) && mask[i]);
          if (own.length > 0 && own.every(Number.isFinite)) told[id]![name] = own;
        }
      }
    }
    return { ...trace, nodes: told };
  }
}
