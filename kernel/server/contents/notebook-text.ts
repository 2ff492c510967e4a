import { fromVersion3 } from "../../notebook/from-version-3.js";
import { joinLines, splitLines } from "../../notebook/notebook.js";
import { validateNotebook } from "../../notebook/validate.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";

type Json = Record<string, unknown>;

const jsonMime = /^application\/(?:json|.*\+json)$/;

const isMultiline = (value: unknown): value is string | string[] =>
  typeof value === "string" ||
  (Array.isArray(value) && value.every((line) => typeof line === "string"));

type Change = (text: string | string[]) => string | string[];

function bundle(data: Json, change: Change): Json {
  return Object.fromEntries(
    Object.entries(data).map(([mime, value]) => [
      mime,
      !jsonMime.test(mime) && isMultiline(value) ? change(value) : value,
    ]),
  );
}

function output(value: Json, change: Change): Json {
  const changed = { ...value };
  if (isMultiline(value["text"])) changed["text"] = change(value["text"]);
  if (typeof value["data"] === "object") changed["data"] = bundle(value["data"] as Json, change);
  return changed;
}

/** The notebook with its texts whole, as front ends have them, or by line, as files have them. */
function withTexts(notebook: Json, change: Change): Json {
  const cells = (notebook["cells"] as Json[]).map((cell) => {
    const changed: Json = { ...cell, source: change(cell["source"] as string | string[]) };
    if (Array.isArray(cell["outputs"])) {
      changed["outputs"] = (cell["outputs"] as Json[]).map((o) => output(o, change));
    }
    if (typeof cell["attachments"] === "object" && cell["attachments"] !== null) {
      changed["attachments"] = Object.fromEntries(
        Object.entries(cell["attachments"] as Record<string, Json>).map(([name, data]) => [
          name,
          bundle(data, change),
        ]),
      );
    }
    return changed;
  });
  return { ...notebook, cells };
}

/** Keys in order, as Jupyter writes them, so that saving here and there gives the same file. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, v]) => [key, sorted(v)]),
  );
}

/** A notebook's file as a front end gets it. */
export function readNotebookText(text: string, path: string): Json {
  try {
    const value = fromVersion3(JSON.parse(text.replace(/^\ufeff/, "")));
    validateNotebook(value);
    return withTexts(value as unknown as Json, joinLines);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ErrorResponse(400, `Unreadable notebook: ${path}: ${reason}`, { cause: error });
  }
}

/** The file of a notebook that a front end sends, laid out as Jupyter does. */
export function writeNotebookText(content: unknown, path: string): string {
  try {
    validateNotebook(content);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ErrorResponse(400, `Cannot save ${path}: ${reason}`, { cause: error });
  }
  const split = withTexts(content as unknown as Json, (lines) => splitLines(joinLines(lines)));
  return `${JSON.stringify(sorted(split), null, 1)}\n`;
}

/** What a notebook's code and outputs are, whatever the layout of its file. */
export function codeText(notebook: Json): string {
  const { cells } = withTexts(notebook, joinLines) as { cells: Json[] };
  const code = cells.filter((cell) => cell["cell_type"] === "code");
  return JSON.stringify(sorted(code.map(({ source, outputs }) => [source, outputs])));
}
