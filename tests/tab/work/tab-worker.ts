// The work in a worker of a page: begun by a message with the environment, answered by one.
import { environment, sharesMemory } from "../../../common/platform/browser/process.js";
import { mkdir } from "../../../common/platform/browser/files.js";
import { threadData } from "../../../common/platform/browser/modules.js";
import { fetchFiles } from "./fetch-files.js";

/** What the page asks for. */
export interface TabWork {
  base: string;
  files: readonly string[];
  environment: Record<string, string>;
}

const said: string[] = [];
for (const name of ["log", "warn", "error"] as const)
  console[name] = (...words: unknown[]) => void said.push(words.join(" "));

const work = (await threadData()) as TabWork;
Object.assign(environment, work.environment);
await fetchFiles(work.base, work.files);
await mkdir("/out", { recursive: true });
try {
  const { labHashes } = await import("./lab-hashes.js");
  const hashes = await labHashes("/out");
  postMessage({ hashes, isolated: crossOriginIsolated, shares: sharesMemory(), said });
} catch (error) {
  postMessage({
    error: error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error),
  });
}
