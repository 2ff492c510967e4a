import { toBase64 } from "#platform/bytes";

/** The picture formats that notebooks show, by their first bytes. */
export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Names the picture format of some bytes, or undefined. */
export function sniffImage(bytes: Uint8Array): ImageMime | undefined {
  const starts = (...expected: number[]): boolean => expected.every((b, i) => bytes[i] === b);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  const riff = starts(0x52, 0x49, 0x46, 0x46);
  if (riff && [0x57, 0x45, 0x42, 0x50].every((b, i) => bytes[8 + i] === b)) return "image/webp";
  return undefined;
}

/** Bytes as the base64 that messages and notebooks carry. */
export function base64(bytes: Uint8Array): string {
  return toBase64(bytes);
}
