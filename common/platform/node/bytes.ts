import { constants } from "node:buffer";

/** How many bytes a text has in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Bytes as base64. */
export function toBase64(bytes: ArrayBufferView): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Bytes as the text they are in UTF-8, a byte order mark included. */
export function utf8Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Pieces as one. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Buffer.concat(pieces);
}

/** Whether these are the same bytes. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** A text as bytes in UTF-8. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}

/** What bytes were that are written as base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, "base64");
}

/** The most characters a text may have. */
export const longestText: number = constants.MAX_STRING_LENGTH;
