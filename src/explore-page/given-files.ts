import { mkdir, rm, writeFile } from "#platform/files";
import { basename, dirname, join } from "#platform/path";
import type { GivenFile } from "./messages.js";

const folder = "/dropped";
const tokenizerFiles = ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"];

/** Where files that were dropped stand in the tab's own files. */
export interface GivenPaths {
  /** A file, or a folder of several. */
  rollouts: string;
  /** The folder of a tokenizer, where one was dropped beside them. */
  tokenizer: string | undefined;
}

const isTokenizer = ({ name }: GivenFile) => tokenizerFiles.includes(basename(name));

/** Puts dropped files where they can be read, in the place of those of before. */
export async function putGivenFiles(files: readonly GivenFile[]): Promise<GivenPaths> {
  await rm(folder, { recursive: true, force: true });
  const put = async ({ name, bytes }: GivenFile, below: string) => {
    // A name is a path of its own: nothing in it leads out of the folder.
    const path = join(folder, below, join("/", name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return path;
  };
  const own = files.filter(isTokenizer);
  const rollouts = files.filter((file) => !isTokenizer(file));
  if (rollouts.length === 0) {
    const got = own.length > 0 ? "a tokenizer alone" : "none";
    throw new RangeError(
      `Cannot import rollouts: there must be a .jsonl, .json or .parquet file, got ${got}`,
    );
  }
  for (const file of own) await put({ ...file, name: basename(file.name) }, "tokenizer");
  const config = own.some(({ name }) => basename(name) === "tokenizer_config.json");
  if (own.length > 0 && !config) {
    await put(
      { name: "tokenizer_config.json", bytes: new TextEncoder().encode("{}") },
      "tokenizer",
    );
  }
  const paths: string[] = [];
  for (const file of rollouts) paths.push(await put(file, "files"));
  return {
    rollouts: paths.length === 1 ? paths[0]! : join(folder, "files"),
    tokenizer: own.length > 0 ? join(folder, "tokenizer") : undefined,
  };
}

/** A message about dropped files as their reader knows them: without the place they were put. */
export const inTheirWords = (text: string) =>
  text.replaceAll(`${folder}/files/`, "").replaceAll(`${folder}/files`, "the files");
