// A text in the part of an address that no server is told: compressed, in letters that a link takes as they are.

/** Letters that most places that take a link still take whole. */
export const longestLink = 30_000;

/** A text in the letters of a link. */
export async function linkLetters(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** The bytes of such letters, no more than `most` of them unpacked. */
async function unpacked(letters: string, what: string, most: number): Promise<string> {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return await new Blob(pieces).text();
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(
        `Cannot open the ${what} in this link: it must have at most ${most >> 20} MB`,
      );
    }
    pieces.push(value);
  }
}

/** The JSON value in the letters of a link; `what` it is stands in the errors, `most` bounds its bytes. */
export async function valueInLink(
  letters: string,
  { what, most }: { what: string; most: number },
): Promise<unknown> {
  // Nothing that packs to so much unpacks to what is allowed.
  if (letters.length > most) {
    throw new RangeError(
      `Cannot open the ${what} in this link: it must have at most ${most} letters, got ${letters.length}`,
    );
  }
  try {
    return JSON.parse(await unpacked(letters, what, most)) as unknown;
  } catch (error) {
    if (error instanceof RangeError && /^Cannot open/.test(error.message)) throw error;
  }
  throw brokenLink(what);
}

/** What a link that was cut or changed is answered with. */
export const brokenLink = (what: string): SyntaxError =>
  new SyntaxError(
    `Cannot open the ${what} in this link: the link must be whole, and was cut or changed on its way`,
  );
