import { randomUUID } from "#platform/uuid";
import type { Header, Json } from "./message.js";

/** A front end may make so many. */
const most = 1000;

/**
 * The subshells of a kernel (JEP 91). Completion, inspection, kernel_info and comms are answered at once on every
 * one of them, as on the main shell. Cells share the thread that runs them, so that a cell of a subshell waits for
 * the one that runs.
 */
export class Subshells {
  readonly #ids = new Set<string>();

  /** Answers what front ends ask about subshells; undefined for other messages. */
  answer(type: string, content: Json): Json | undefined {
    switch (type) {
      case "create_subshell_request": {
        if (this.#ids.size >= most)
          return failed(`Cannot create a subshell: at most ${most} may exist, got one more`);
        const id = randomUUID();
        this.#ids.add(id);
        return { status: "ok", subshell_id: id };
      }
      case "list_subshell_request":
        return { status: "ok", subshell_id: [...this.#ids] };
      case "delete_subshell_request":
        return this.#ids.delete(String(content["subshell_id"]))
          ? { status: "ok" }
          : unknown(content["subshell_id"]);
      default:
        return undefined;
    }
  }

  /** Whether a message is for a subshell. */
  isFor({ subshell_id: id }: Header): boolean {
    return id !== undefined && id !== null;
  }

  /** What a message gets that is for a subshell which does not exist. */
  refusal(header: Header): Json | undefined {
    const { subshell_id: id } = header;
    return !this.isFor(header) || this.#ids.has(String(id)) ? undefined : unknown(id);
  }
}

function failed(evalue: string): Json {
  return { status: "error", ename: "SubshellError", evalue, traceback: [evalue] };
}

const unknown = (id: unknown): Json =>
  failed(
    `Cannot use subshell ${JSON.stringify(id)?.slice(0, 100)}: create_subshell_request makes one`,
  );
