import { checkArguments } from "../../common/options/check-arguments.js";
import type { Check, Status } from "./check.js";

const marks: Record<Status, string> = {
  ok: "ok",
  note: "note",
  slow: "slow",
  warning: "warning",
  error: "ERROR",
};

/** Text in lines of at most so many characters. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/**
 * Checks as a table for a terminal, one row each, with what helps below what was found.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { showChecks } from "arpo-lab/experimental/doctor";
 *
 * const table = showChecks([
 *   { id: "threads", area: "host", status: "ok", found: "2 threads" },
 *   { id: "key", area: "keys", status: "error", found: "no key", fix: "set it" },
 * ]);
 * assert.match(table, /^host {2}ok +2 threads\nkeys {2}ERROR +no key\n +-> set it\n/);
 * assert.match(table, /1 error/);
 * ```
 */
export function showChecks(checks: readonly Check[], width = 100): string {
  checkArguments("show checks", { checks, width }, { checks: "list", width: "number" });
  const area = Math.max(...checks.map((check) => check.area.length), 0);
  const mark = Math.max(...Object.values(marks).map(({ length }) => length));
  const indent = " ".repeat(area + mark + 4);
  const capacity = Math.max(30, width - indent.length);
  const lines = checks.flatMap((check, i) => {
    const name = checks[i - 1]?.area === check.area ? "" : check.area;
    const [first = "", ...rest] = wrap(check.found, capacity);
    const fix = check.fix === undefined ? [] : wrap(`-> ${check.fix}`, capacity);
    return [
      `${name.padEnd(area)}  ${marks[check.status].padEnd(mark)}  ${first}`,
      ...[...rest, ...fix].map((line) => indent + line),
    ];
  });
  const count = (status: Status) => checks.filter((check) => check.status === status).length;
  const said = (["error", "warning", "slow"] as const)
    .filter((status) => count(status) > 0)
    .map(
      (status) => `${count(status)} ${status}${status !== "slow" && count(status) > 1 ? "s" : ""}`,
    );
  return [...lines, "", said.length > 0 ? said.join(", ") : "nothing wrong was found", ""].join(
    "\n",
  );
}
