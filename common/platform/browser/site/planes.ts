/** Files of numbers of four bytes each, which a site has as `NAME.txt` in planes: hosts pack text, and planes better. */
export const inPlanes = (name: string): boolean => name.endsWith(".safetensors");

/** What a site calls a file: hosts pack what they take for text. */
export const siteName = (name: string): string =>
  inPlanes(name) || name.endsWith(".ipynb") ? `${name}.txt` : name;

/** The bytes of numbers of four bytes each: planes hold all first bytes, then all second ones, and so on. */
export function fromPlanes(planes: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(planes.length);
  let at = 0;
  for (let k = 0; k < 4; k++) for (let i = k; i < bytes.length; i += 4) bytes[i] = planes[at++]!;
  return bytes;
}
