import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutSecrets } from "./without-secrets.js";

const key = "sk-Live_9f8E7d6C5b4A3x2Y1z";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const each = (text: string, write: (code: number) => string, between = ""): string =>
  Array.from(text, (c) => write(c.charCodeAt(0))).join(between);
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const hex = (code: number): string => code.toString(16).padStart(2, "0");
const reversed = (text: string): string => [...text].reverse().join("");
const half = key.length >> 1;

const echoes: Record<string, string> = {
  "as it is": key,
  "in capitals": key.toUpperCase(),
  "without what separates": key.replaceAll(/[-_]/g, ""),
  "in base64": base64(key),
  "in base64, one byte on": base64(`x${key}`),
  "in base64, two bytes on": base64(`xy${key}`),
  "in base64 with its header": base64(`Bearer ${key}`),
  "in base64 of URLs": Buffer.from(key).toString("base64url"),
  "in base64 over lines": base64(key).replace(/.{8}/g, "$&\n"),
  "in base64 twice": base64(base64(key)),
  "in base64, reversed": reversed(base64(key)),
  reversed: reversed(key),
  "reversed in base64": base64(reversed(key)),
  "in hex": Buffer.from(key).toString("hex"),
  "in hex of capitals": Buffer.from(key).toString("hex").toUpperCase(),
  "in hex with colons": each(key, hex, ":"),
  "in hex with 0x": each(key, (code) => `0x${hex(code)}`, ", "),
  "URL-encoded": each(key, (code) => `%${hex(code)}`),
  "URL-encoded twice": each(key, (code) => `%25${hex(code)}`),
  "as JSON's escapes": each(key, (code) => `\\u00${hex(code)}`),
  "as a string's escapes": each(key, (code) => `\\x${hex(code)}`),
  "as entities": each(key, (code) => `&#${code};`),
  "as entities in hex": each(key, (code) => `&#x${hex(code)};`),
  "as a list of numbers": each(key, String, ", "),
  "with spaces between": [...key].join(" "),
  "over lines": key.replace(/.{4}/g, "$&\n"),
  "in two halves": `first ${key.slice(0, half)} and then ${key.slice(half)}`,
  "its beginning": key.slice(0, 12),
  "its end": key.slice(-10),
  "turned by 13": key.replace(/[a-z]/gi, (c) =>
    String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < "n" ? 13 : -13)),
  ),
};

for (const [how, echo] of Object.entries(echoes)) {
  test(`a key that a server says back ${how} is not shown`, () => {
    const said = withoutSecrets(headers, `{"error": "wrong key ${echo}, try again"}`);
    assert.ok(!said.includes(echo), said);
    assert.match(said, /…|not shown/);
  });
}

test("what a server says that is no key is shown", () => {
  for (const said of [
    "model not found: qwen",
    '{"error": {"message": "Rate limit of 60 per minute"}}',
    "application/json",
  ]) {
    assert.equal(withoutSecrets(headers, said), said);
  }
  assert.equal(withoutSecrets({}, base64(key)), base64(key));
  assert.equal(withoutSecrets(headers, `got ${key} here`), "got … here");
  assert.equal(withoutSecrets(headers, "y ".repeat(5000)).length, 2000);
});
