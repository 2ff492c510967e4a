import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { packagePath } from "../../../common/platform/node/modules.js";
import { ownClone, unlistedOf } from "./run-lab.js";

test("unlistedOf() leaves the notebooks, their index and what Git does not know", () => {
  const tracked = ["README.md", "src/api/index.ts", "src/cli.ts", "notebooks/00-tour.ipynb"];
  const more = ["notebooks/README.md", "notebooks/exercises/index.ts", ".gitignore"];
  assert.deepEqual(unlistedOf([...tracked, ...more]), [
    ...["README.md", "src", "notebooks/exercises", ".gitignore", "node_modules", "dist"],
  ]);
});

test("ownClone() is of this repository alone", (t) => {
  assert.equal(ownClone(tmpdir()), undefined);
  const here = ownClone(packagePath("."));
  if (here === undefined) return t.skip("this is no clone");
  assert.equal(here.first, "notebooks/00-tour.ipynb");
  assert.ok(here.unlisted.includes("src") && !here.unlisted.includes("notebooks"));
});
