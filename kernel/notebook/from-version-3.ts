import { joinLines, type Multiline } from "./notebook.js";
import { isRecord } from "../../common/options/is-record.js";

type Fields = Record<string, unknown>;

const mimes: Record<string, string> = {
  text: "text/plain",
  html: "text/html",
  svg: "image/svg+xml",
  png: "image/png",
  jpeg: "image/jpeg",
  latex: "text/latex",
  json: "application/json",
  javascript: "application/javascript",
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string =>
  typeof value === "string" || Array.isArray(value) ? joinLines(value as Multiline) : "";

function jsonOf(value: unknown): unknown {
  try {
    return JSON.parse(textOf(value));
  } catch {
    return textOf(value); // a text is JSON too
  }
}

/** What an output shows stood among its fields, under short names. */
function bundleOf(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const mime = mimes[name] ?? name;
      return [mime, mime === "application/json" ? jsonOf(value) : value];
    }),
  );
}

function output(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { output_type, metadata = {}, prompt_number = null, stream, ...rest } = value;
  switch (output_type) {
    case "pyout":
      return {
        output_type: "execute_result",
        execution_count: prompt_number,
        metadata,
        data: bundleOf(rest),
      };
    case "display_data":
      return { output_type, metadata, data: bundleOf(rest) };
    case "pyerr":
      return { output_type: "error", ...rest };
    case "stream":
      return { output_type, name: stream ?? "stdout", text: rest["text"] ?? "" };
    default:
      return value;
  }
}

function cell(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { cell_type, metadata = {}, source = "" } = value;
  switch (cell_type) {
    case "code":
      return {
        cell_type,
        execution_count: value["prompt_number"] ?? null,
        metadata:
          value["collapsed"] === undefined
            ? metadata
            : { ...(metadata as Fields), collapsed: value["collapsed"] },
        outputs: listOf(value["outputs"]).map(output),
        source: value["input"] ?? "",
      };
    case "heading": {
      const level = Math.min(Math.max(Number(value["level"] ?? 1), 1), 6) || 1;
      const words = textOf(source)
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join(" ");
      return { cell_type: "markdown", metadata, source: `${"#".repeat(level)} ${words}` };
    }
    case "html":
      return { cell_type: "markdown", metadata, source };
    default:
      return { cell_type, metadata, source };
  }
}

/**
 * A notebook of format 3, as IPython wrote it until 2015, in format 4; what is not of format 3 is left
 * as it is.
 */
export function fromVersion3(value: unknown): unknown {
  if (!isRecord(value) || value["nbformat"] !== 3) return value;
  const { name, ...metadata } = isRecord(value["metadata"]) ? value["metadata"] : {};
  const sheets = listOf(value["worksheets"]).filter(isRecord);
  return {
    cells: sheets.flatMap((sheet) => listOf(sheet["cells"]).map(cell)),
    metadata: name === undefined || name === "" ? metadata : { ...metadata, title: name },
    nbformat: 4,
    nbformat_minor: 4,
  };
}
