import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { plainFiles, readInside } from "./files-inside.js";
import { pageOf } from "./html/page.js";
import { temporaryFolder } from "../../tests/temporary.js";

const skip = process.platform === "win32";
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>secret</text></svg>';

const made: string[] = [];
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

/** A notebook's folder with all that should not be taken from it, and one beside it. */
function planted(): string {
  const base = temporaryFolder("inside");
  const [folder, outside] = [join(base, "in"), join(base, "out")];
  mkdirSync(join(folder, "sub", "deep"), { recursive: true });
  mkdirSync(join(folder, ".hidden"));
  mkdirSync(outside);
  writeFileSync(join(outside, "x.svg"), svg);
  writeFileSync(join(folder, "own.svg"), svg.replace("secret", "mine"));
  writeFileSync(join(folder, "sub", "deep", "own.svg"), "");
  writeFileSync(join(folder, ".hidden", "a"), "");
  writeFileSync(join(folder, "notes.svg"), "root:x:0:0:not a drawing");
  symlinkSync(join(outside, "x.svg"), join(folder, "x.svg"));
  symlinkSync(outside, join(folder, "away"));
  symlinkSync("/proc", join(folder, "proc"));
  symlinkSync("..", join(folder, "sub", "up"));
  symlinkSync("own.svg", join(folder, "within.svg"));
  assert.equal(spawnSync("mkfifo", [join(folder, "pipe.svg")]).status, 0);
  return folder;
}

test("a folder taken whole gives its own plain files and names what is none", { skip }, () => {
  const leftOut: string[] = [];
  assert.deepEqual(
    plainFiles(planted(), (name) => leftOut.push(name)),
    ["notes.svg", "own.svg", "sub/deep/own.svg"],
  );
  const left = ["away", "pipe.svg", "proc", "sub/up", "within.svg", "x.svg"];
  assert.deepEqual(leftOut.sort(), left);
});

test("a picture comes from the notebook's folder, wherever links lead", { skip }, () => {
  const folder = planted();
  const page = (address: string): string =>
    pageOf(
      {
        cells: [{ cell_type: "markdown", id: "a", metadata: {}, source: `![x](${address})` }],
        metadata: {},
        nbformat: 4,
        nbformat_minor: 5,
      },
      { title: "t", folder },
    );
  for (const own of ["own.svg", "within.svg", "sub/up/own.svg"]) {
    assert.match(page(own), /data:image\/svg\+xml;base64,/, own);
  }
  const others =
    "x.svg away/x.svg ../out/x.svg %2e%2e/out/x.svg sub/up/x.svg proc/self/environ pipe.svg notes.svg . sub %ff";
  for (const other of others.split(" ")) {
    assert.doesNotMatch(page(other), /base64,/, other);
    if (!/notes|%ff/.test(other)) assert.equal(readInside(folder, other), undefined, other);
  }
  assert.equal(readInside(folder, "own.svg", 3), undefined);
  assert.match(page("own.svg"), /Content-Security-Policy" content="default-src 'none'/);
});
