import type * as node from "../node/zip.js";

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let sum = n;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

export const crc32: typeof node.crc32 = (data, value = 0) => {
  const bytes =
    typeof data === "string"
      ? new TextEncoder().encode(data)
      : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let sum = ~value;
  for (const byte of bytes) sum = table[(sum ^ byte) & 0xff]! ^ (sum >>> 8);
  return ~sum >>> 0;
};

export async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacking = new DecompressionStream("deflate-raw");
  const writer = unpacking.writable.getWriter();
  const writing = (async () => {
    for await (const piece of packed) await writer.write(new Uint8Array(piece));
    await writer.close();
  })();
  writing.catch(() => undefined); // a reader hears of it first
  const reader = unpacking.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield value;
  }
  await writing;
}

export const unzstd: typeof node.unzstd = undefined;
