import { readFile } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { readValues, type ValueFile } from "./value-record.js";

/** A file's text, unpacked where it is packed. */
async function textOf(path: string): Promise<string> {
  if (!path.endsWith(".gz")) return readFile(path, "utf8");
  const unpacked = new Blob([await readFile(path)])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text().catch((error: Error) => {
    throw new SyntaxError(
      `Cannot load branch values: ${path} must be a file packed by gzip, got ${error.message}`,
      { cause: error },
    );
  });
}

/** Reads a file that `branchValues` wrote, also one packed by gzip (`.gz`). */
export async function readValueFile(path: string): Promise<ValueFile> {
  checkArguments("load branch values", { path }, { path: "path" });
  const file = readValues(await textOf(path), path);
  if (file) return file;
  throw new SyntaxError(
    `Cannot load branch values: ${path} must be a file that branchValues wrote, got an empty one`,
  );
}
