/** How many bytes a text has in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Bytes as base64. */
export function toBase64(bytes: ArrayBufferView): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
