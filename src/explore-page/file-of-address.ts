import type { GivenFile } from "./messages.js";

/** The file that `?url=` of an address names, which must be of the same host; undefined without one. */
export async function fileOfAddress(address: {
  href: string;
  search: string;
}): Promise<GivenFile | undefined> {
  const given = new URLSearchParams(address.search).get("url");
  if (given === null) return undefined;
  const { href, origin, pathname } = new URL(given, address.href);
  if (origin !== new URL(address.href).origin) {
    throw new RangeError(
      `Cannot open ${href}: url must be an address of this page's own host, got ${origin}. Save the file and drop it here.`,
    );
  }
  const answer = await fetch(href);
  if (!answer.ok) {
    throw new RangeError(`Cannot open ${href}: it must be there, got status ${answer.status}`);
  }
  const name = decodeURIComponent(pathname.split("/").at(-1)!);
  return { name: name || "rollouts.jsonl", bytes: new Uint8Array(await answer.arrayBuffer()) };
}
