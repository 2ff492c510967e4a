import { createHash } from "node:crypto";

/** A hash that takes its data in pieces. */
interface Sha256 {
  update(piece: string | Uint8Array): void;
  hex(): string;
}

/** A hash of whatever will be given to it. */
export function sha256Of(): Sha256 {
  const hash = createHash("sha256");
  return { update: (piece) => void hash.update(piece), hex: () => hash.digest("hex") };
}

/** The SHA-256 of these pieces, one after the other, in hexadecimal. */
export function sha256(...pieces: (string | Uint8Array)[]): string {
  const hash = sha256Of();
  for (const piece of pieces) hash.update(piece);
  return hash.hex();
}
