import { sha256Of } from "#platform/sha256";
import { open, readdir } from "#platform/files";
import { basename, join } from "#platform/path";
import { isGguf } from "./gguf/is-gguf.js";

const pieces = 64;
const pieceBytes = 4096;

/**
 * Tells a folder's (or a `.gguf` file's) weights and tokenizer from others without reading gigabytes: a
 * hash of names, sizes and 64 pieces spread over each file. Training changes nearly every weight, so it changes the pieces.
 */
export async function modelFingerprint(folder: string): Promise<string> {
  const hash = sha256Of();
  const paths = isGguf(folder)
    ? [folder]
    : (await readdir(folder))
        .filter(
          (name) => name.endsWith(".safetensors") || /^(config|tokenizer.*)\.json$/.test(name),
        )
        .sort()
        .map((name) => join(folder, name));
  const buffer = new Uint8Array(pieceBytes);
  for (const path of paths) {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      hash.update(`${basename(path)} ${size}\n`);
      const step = Math.max(pieceBytes, Math.floor(size / pieces));
      for (let at = 0; at < size; at += step) {
        const { bytesRead } = await file.read(buffer, 0, pieceBytes, at);
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  }
  return hash.hex().slice(0, 16);
}
