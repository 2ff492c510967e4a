/** Where the service worker keeps what was fetched. */
export const keptFiles = "arpo-lab";

/** Names with a hash of what is in them: what was kept of them is what they are. */
export const isHashed = (address: string): boolean =>
  /\/(?:lab-static|scripts)\/(?:[\w-]+-)?[A-Z0-9]{8}\.\w+$/.test(address);

/**
 * Fetches through the service worker what this reader has not yet asked for, once for each version of the site: what
 * is first needed without a network must be there.
 */
export async function keepAll(base: string): Promise<void> {
  const list = new URL("offline.json", base).href;
  const text = await (await fetch(list)).text();
  const cache = await caches.open(keptFiles);
  const done = `${list}?done`;
  if ((await (await cache.match(done))?.text()) === text) return;
  const { names } = JSON.parse(text) as { names: string[] };
  const wanted = new Set(names.map((name) => new URL(name, base).href));
  for (const address of wanted) {
    if (!isHashed(address) || (await cache.match(address)) === undefined)
      await (await fetch(address, { priority: "low" })).arrayBuffer();
  }
  // Of versions that are gone.
  for (const { url } of await cache.keys())
    if (url.startsWith(base) && isHashed(url) && !wanted.has(url)) await cache.delete(url);
  await cache.put(done, new Response(text));
}
