import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { root } from "../cli/notebook-run.js";

test("each lesson has a picture of its own on the launcher, and other notebooks have none", async () => {
  const { outputFiles } = await build({
    entryPoints: [join(root, "kernel/server/page/src/notebook/lesson-pictures.ts")],
    ...{ bundle: true, write: false, format: "esm" },
  });
  const text = Buffer.from(outputFiles[0]!.contents).toString("base64");
  const { lessonPicture } = (await import(`data:text/javascript;base64,${text}`)) as {
    lessonPicture: (name: string) => string | undefined;
  };
  const lessons = readdirSync(join(root, "notebooks")).filter((name) => name.endsWith(".ipynb"));
  const pictures = lessons.map((name) => lessonPicture(name));
  assert.equal(new Set(pictures).size, lessons.length);
  assert.ok(pictures.every((picture) => picture?.startsWith("<svg")));
  assert.equal(lessonPicture("mine.ipynb"), undefined);
});
