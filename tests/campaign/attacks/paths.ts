// Paths, links and names that lead out of a lab's folder.
import assert from "node:assert/strict";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Contents } from "../../../kernel/server/contents/contents.js";
import { toErrorResponse } from "../../../common/http-server/error-response.js";
import type { Random } from "../../../src/base/random/random.js";
import { type Area, Broken } from "../attempt.js";

const text = { type: "file", format: "text", content: "mine" } as const;
const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
const acts: Record<string, (c: Contents, path: string, other: string) => Promise<unknown>> = {
  read: (c, path) => c.get(path, { hash: true }),
  list: (c, path) => c.get(path, { type: "directory" } as never),
  save: (c, path) => c.save(path, text),
  append: (c, path) => c.save(path, { ...text, chunk: 2 }),
  "save a notebook without end": (c, path) =>
    c.save(`${path}.ipynb`, {
      type: "notebook",
      content: JSON.parse(`{"cells":${deep}}`) as unknown,
    }),
  "make a folder": (c, path) => c.save(path, { type: "directory" }),
  create: (c, path, other) => c.create(path, "file", other),
  copy: (c, path, other) => c.copy(path, other),
  rename: (c, path, other) => c.rename(path, other),
  delete: (c, path) => c.delete(path),
  "make a checkpoint": (c, path) => c.checkpoints.create(path),
  restore: (c, path, other) => c.checkpoints.restore(path, other),
  "delete a checkpoint": (c, path, other) => c.checkpoints.delete(path, other),
};
const parts = [
  ...["..", ".", "", "a.txt", "d", "link", "link.txt", "dangling", "loop", ".hidden", ".ssh", "id"],
  ...[
    ".ipynb_checkpoints",
    "a-checkpoint.txt",
    "%2e%2e",
    "..%2f",
    "..\\",
    "\\",
    "~",
    "a.txt\0",
    "\u202e",
  ],
  ...[
    "..\u2215",
    "\u200c.ssh",
    "A.TXT",
    "e\u0301",
    "\u00e9".repeat(127),
    "hard.txt",
    "\uff0e\uff0e",
    "CON",
    "a.txt:x",
    "x".repeat(300),
    "proc",
    "self",
    "root",
    "secret.txt",
    "*",
    "$HOME",
  ],
];
const pathOf = (random: Random): string => {
  const path = Array.from({ length: 1 + random.integer(5) }, () => random.choose(parts)).join("/");
  return random.choose(["", "", "", "/", "//", "\\\\", "file://"]) + path;
};

const stateOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      return `${name}=${lstatSync(path).isFile() ? readFileSync(path, "utf8") : ""}`;
    })
    .join("\n");

export const paths: Area = {
  name: "paths",
  share: 8,
  seconds: 20,
  make: (random) => {
    const tries = Array.from({ length: 1 + random.integer(4) }, () => {
      return [random.choose(Object.keys(acts)), pathOf(random), pathOf(random)] as const;
    });
    const linked = random.choose(["link", "folder of checkpoints", "checkpoint", "hidden"]);
    return {
      name: `${tries.map((one) => one.map((word) => JSON.stringify(word)).join(" ")).join(", then ")}; a ${linked} leads out`,
      promise: "nothing outside is read or changed, and every refusal is in words",
      run: async (place) => {
        const [inside, outside] = [place.path("in"), place.path("out")];
        mkdirSync(join(inside, "d"), { recursive: true });
        mkdirSync(outside);
        for (const name of ["a.txt", "a-checkpoint.txt", "secret.txt", "id"])
          writeFileSync(join(outside, name), "secret");
        mkdirSync(join(inside, ".ssh"));
        writeFileSync(join(inside, ".ssh", "id"), "secret");
        writeFileSync(join(inside, ".hidden"), "secret");
        writeFileSync(join(inside, "a.txt"), "inside");
        symlinkSync(outside, join(inside, "link"));
        symlinkSync(join(outside, "secret.txt"), join(inside, "link.txt"));
        symlinkSync(join(outside, "new.txt"), join(inside, "dangling"));
        symlinkSync("loop", join(inside, "loop"));
        symlinkSync("/proc", join(inside, "proc"));
        const checkpoints = join(inside, ".ipynb_checkpoints");
        if (linked === "folder of checkpoints") symlinkSync(outside, checkpoints);
        if (linked === "checkpoint") {
          mkdirSync(checkpoints);
          symlinkSync(join(outside, "a-checkpoint.txt"), join(checkpoints, "a-checkpoint.txt"));
        }
        linkSync(join(inside, "a.txt"), join(inside, "hard.txt"));
        if (linked === "hidden") symlinkSync(".ssh", join(inside, "keys"));
        const [before, hidden] = [
          stateOf(outside),
          readFileSync(join(inside, ".ssh", "id"), "utf8"),
        ];
        const contents = new Contents(inside);
        const said: string[] = [];
        for (const [act, path, other] of tries) {
          const found = await acts[act]!(contents, path, other).catch((error: unknown) => {
            const { status, message } = toErrorResponse(error);
            assert.ok(status < 500, `${act} ${path}: ${status} ${String(error)}`);
            return message;
          });
          const shown = JSON.stringify(found) ?? "";
          if (/"secret"|root:x/.test(shown))
            throw new Broken("broken", `${act} ${path} read ${shown}`);
          said.push(shown.slice(0, 80));
        }
        assert.equal(stateOf(outside), before);
        if (existsSync(join(inside, ".ssh", "id")))
          assert.equal(readFileSync(join(inside, ".ssh", "id"), "utf8"), hidden);
        for (const name of readdirSync(inside, { withFileTypes: true })) {
          const isOurs = name.isFile() && !name.name.startsWith(".");
          if (isOurs) assert.notEqual(readFileSync(join(inside, name.name), "utf8"), "secret");
        }
        return said.join(" | ");
      },
    };
  },
};
