// A server that says the key back, in whatever dress.
import assert from "node:assert/strict";
import { withoutSecrets } from "../../../src/base/http/without-secrets.js";
import type { Random } from "../../../src/base/random/random.js";
import type { Area } from "../attempt.js";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const textOf = (random: Random, size: number) =>
  Array.from({ length: size }, () => letters[random.integer(letters.length)]).join("");
const each = (text: string, write: (code: number) => string, between = "") =>
  Array.from(text, (c) => write(c.charCodeAt(0))).join(between);
const hex = (code: number) => code.toString(16).padStart(2, "0");
const base64 = (text: string) => Buffer.from(text).toString("base64");

const dresses: Record<string, (key: string, random: Random) => string> = {
  "as it is": (key) => key,
  "in other letters": (key, random) =>
    [...key].map((c) => (random.uniform() < 0.5 ? c.toUpperCase() : c.toLowerCase())).join(""),
  "in base64, some bytes on": (key, random) => base64(textOf(random, random.integer(4)) + key),
  "in base64 of URLs": (key) => Buffer.from(key).toString("base64url"),
  "in base64 twice": (key) => base64(base64(key)),
  "in hex": (key, random) => each(key, hex, random.choose(["", ":", " ", "-"])),
  reversed: (key) => [...key].reverse().join(""),
  "reversed in base64": (key) => base64([...key].reverse().join("")),
  "URL-encoded": (key) => each(key, (code) => `%${hex(code)}`),
  "as JSON's escapes": (key) => each(key, (code) => `\\u00${hex(code)}`),
  "as entities": (key) => each(key, (code) => `&#${code};`),
  "as numbers": (key) => each(key, String, ", "),
  "with something between": (key, random) => [...key].join(random.choose([" ", "\n", "-", "."])),
  "its beginning": (key, random) => key.slice(0, Math.max(10, random.integer(key.length))),
  "its end": (key, random) => key.slice(-Math.max(10, random.integer(key.length))),
  "in two halves": (key) => `${key.slice(0, key.length >> 1)} and ${key.slice(key.length >> 1)}`,
};

export const keys: Area = {
  name: "keys",
  share: 6,
  seconds: 20,
  make: (random) => {
    const key =
      random.choose(["sk-", "hf_", "Bearer-", ""]) + textOf(random, 20 + random.integer(60));
    const dress = random.choose(Object.keys(dresses));
    const echo = dresses[dress]!(key, random);
    const [before, after] = [
      textOf(random, random.integer(200)),
      textOf(random, random.integer(200)),
    ];
    const header = random.choose([{ authorization: `Bearer ${key}` }, { "x-api-key": key }]);
    return {
      name: `a key of ${key.length} characters, ${dress}`,
      promise: "nothing of it is shown",
      run: async () => {
        const said = withoutSecrets(header as never, `{"error": "${before} ${echo} ${after}"}`);
        assert.ok(!said.includes(echo), said);
        for (let i = 0; i + 12 <= key.length; i++)
          assert.ok(!said.includes(key.slice(i, i + 12)), said);
        return Promise.resolve(said.slice(0, 200));
      },
    };
  },
};
