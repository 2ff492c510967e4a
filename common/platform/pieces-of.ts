interface OpenFile {
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }>;
}

/** The bytes of an open file, piece by piece, each in memory of its own. */
export async function* piecesOf(file: OpenFile, size = 1 << 20): AsyncGenerator<Uint8Array> {
  for (let at = 0; ;) {
    const piece = new Uint8Array(size);
    const { bytesRead } = await file.read(piece, 0, size, at);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}
