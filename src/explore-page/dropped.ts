import type { GivenFile } from "./messages.js";

const bytesOf = async (file: File, name: string): Promise<GivenFile> => ({
  name,
  bytes: new Uint8Array(await file.arrayBuffer()),
});

const readable = /\.(?:jsonl|ndjson|json|parquet)$/i;

async function inFolder(folder: FileSystemDirectoryEntry): Promise<GivenFile[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  // A reader gives some at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) break;
    entries.push(...some);
  }
  const lists = await Promise.all(entries.filter(({ name }) => !name.startsWith(".")).map(inEntry));
  return lists.flat();
}

async function inEntry(entry: FileSystemEntry): Promise<GivenFile[]> {
  if (entry.isDirectory) return inFolder(entry as FileSystemDirectoryEntry);
  if (!readable.test(entry.name)) return [];
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [await bytesOf(file, entry.fullPath.replace(/^\//, ""))];
}

/** Files that were chosen. */
export const chosenFiles = (files: FileList): Promise<GivenFile[]> =>
  Promise.all(Array.from(files, (file) => bytesOf(file, file.webkitRelativePath || file.name)));

/** Files that were dropped, and those in folders that were. Asked for before anything is awaited. */
export async function droppedFiles(data: DataTransfer): Promise<GivenFile[]> {
  const entries = Array.from(data.items, (item) => item.webkitGetAsEntry());
  const folders = entries.filter((entry) => entry?.isDirectory === true);
  if (folders.length === 0) return chosenFiles(data.files);
  const lists = await Promise.all(entries.map((entry) => (entry ? inEntry(entry) : [])));
  return lists.flat();
}

/** Text that was pasted, as a file: lines of JSON where its first line is one, otherwise one value. */
export function pastedFile(text: string): GivenFile {
  let ending = "json";
  try {
    JSON.parse(text.trim().split("\n")[0]!);
    ending = "jsonl";
  } catch {
    // The value goes over several lines.
  }
  return { name: `pasted.${ending}`, bytes: new TextEncoder().encode(text) };
}
