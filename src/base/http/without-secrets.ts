// What a server that refused said is shown to people and written to logs. It was sent the key, and may say it back in
// any shape: what could hold a part of it is not shown at all.

/** Headers that everybody may read. */
const open = new Set(["accept", "accept-encoding", "content-type", "content-length", "user-agent"]);
/** How much of an answer is looked at and shown. */
const longest = 2000;
/** So many letters and digits in a row of a secret tell a part of it. */
const part = 6;
/** How often what was decoded is decoded again. */
const deepest = 3;

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");
const reversed = (text: string): string => [...text].reverse().join("");
const fromCodes = (codes: readonly number[]): string =>
  codes.map((code) => (code < 0x110000 ? String.fromCodePoint(code) : "")).join("");

/** A text with each escape of one kind replaced by what it stands for. */
const unescaped = (text: string): string =>
  text
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => fromCodes([parseInt(hex, 16)]))
    .replace(/\\u\{?([0-9a-f]{2,6})\}?|\\x([0-9a-f]{2})|\\([0-7]{3})/gi, (_, u, x, o) =>
      fromCodes([parseInt(String(u ?? x ?? o), u === undefined && x === undefined ? 8 : 16)]),
    )
    .replace(/&#x([0-9a-f]{1,6});?|&#(\d{1,7});?/gi, (_, hex, decimal) =>
      fromCodes([hex === undefined ? Number(decimal) : parseInt(String(hex), 16)]),
    );

const bytesText = (bytes: Uint8Array): string => Array.from(bytes, (b) => fromCodes([b])).join("");

/** What runs of base64, at each of the four places where a group may begin. */
function fromBase64(text: string): string[] {
  const runs = text.replace(/\s+/g, "").match(/[A-Za-z0-9+/_-]{6,}/g) ?? [];
  return runs.flatMap((run) =>
    [0, 1, 2, 3].map((skip) => {
      const usual = run.slice(skip).replaceAll("-", "+").replaceAll("_", "/");
      const groups = usual.slice(0, usual.length - (usual.length % 4 === 1 ? 1 : 0));
      return bytesText(Uint8Array.from(atob(groups), (c) => c.charCodeAt(0)));
    }),
  );
}

/** What runs of hexadecimal digits say, whatever stands between the pairs. */
function fromHex(text: string): string[] {
  const runs = text.replace(/0x|[\s:,;_-]+/gi, "").match(/[0-9a-f]{8,}/gi) ?? [];
  return runs.flatMap((run) =>
    [0, 1].map((skip) =>
      fromCodes((run.slice(skip).match(/../g) ?? []).map((pair) => parseInt(pair, 16))),
    ),
  );
}

/** What lists of numbers say as characters. */
function fromNumbers(text: string): string[] {
  const numbers = (text.match(/\d{1,3}/g) ?? []).map(Number);
  return numbers.length < part ? [] : [fromCodes(numbers)];
}

const rotated = (text: string): string =>
  text.replace(/[a-z]/gi, (c) => {
    const first = c <= "Z" ? 65 : 97;
    return String.fromCharCode(((c.charCodeAt(0) - first + 13) % 26) + first);
  });

/** A text in all the ways it may be meant, each once. */
function views(text: string): Set<string> {
  const seen = new Set<string>();
  let found = [text];
  for (let depth = 0; depth < deepest; depth++) {
    const next: string[] = [];
    for (const one of found) {
      if (one.length < part || seen.has(one) || seen.size > 300) continue;
      seen.add(one);
      next.push(unescaped(one), reversed(one), rotated(one));
      next.push(...fromBase64(one), ...fromHex(one), ...fromNumbers(one));
    }
    found = next;
  }
  for (const one of found) seen.add(one);
  return seen;
}

/** Whether a text holds a part of a secret, in whatever shape. */
function tells(text: string, secrets: readonly string[]): boolean {
  const wanted = secrets.map(plain).filter((secret) => secret.length >= part);
  if (wanted.length === 0) return false;
  const parts = new Set(
    wanted.flatMap((secret) =>
      Array.from({ length: secret.length - part + 1 }, (_, i) => secret.slice(i, i + part)),
    ),
  );
  for (const view of views(text)) {
    const read = plain(view);
    for (let i = 0; i + part <= read.length; i++)
      if (parts.has(read.slice(i, i + part))) return true;
  }
  return false;
}

/** The first words of an answer, without what a server may repeat of the request's headers. */
export function withoutSecrets(headers: Readonly<Record<string, string>>, answer: string): string {
  const values = Object.entries(headers)
    .filter(([name]) => !open.has(name.toLowerCase()))
    .flatMap(([, value]) => [value, ...value.split(/[\s=;,:]+/)]);
  const secrets = values.filter(
    (value) => value.length >= 4 && !/^(bearer|basic|token)$/i.test(value),
  );
  // More than is shown, so that nothing of a secret is cut off and not found.
  const said = secrets
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, "…"), answer.slice(0, 2 * longest))
    .slice(0, longest);
  return tells(said, secrets) ? "(not shown: it repeats a part of the request's headers)" : said;
}
