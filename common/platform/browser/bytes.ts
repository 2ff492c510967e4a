import type * as node from "../node/bytes.js";

/** Counted, not encoded; half of a pair alone counts as the mark that stands for it. */
export const utf8Length: typeof node.utf8Length = (text) => {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
};

/** In pieces, because the arguments of a call have an end. */
export const toBase64: typeof node.toBase64 = (view) => {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
};

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Shared memory cannot be decoded where it is. */
export const utf8Text: typeof node.utf8Text = (bytes) =>
  decoder.decode(bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice());

export const joinBytes: typeof node.joinBytes = (pieces) => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

export const sameBytes: typeof node.sameBytes = (one, other) =>
  one.length === other.length && one.every((byte, i) => byte === other[i]);

const encoder = new TextEncoder();

export const utf8Bytes: typeof node.utf8Bytes = (text) => encoder.encode(text);

export const fromBase64: typeof node.fromBase64 = (text) =>
  Uint8Array.from(atob(text.replace(/\s/g, "")), (unit) => unit.charCodeAt(0));

export const longestText: typeof node.longestText = 2 ** 29 - 24;
