import assert from "node:assert/strict";
import { test } from "node:test";
import { shortenedSteps } from "./remote-summarizer.js";

test("shortenedSteps() keeps the first, the last four, and searches with their results", () => {
  assert.equal(shortenedSteps([]), "");
  assert.equal(shortenedSteps(["a", " b "]), "Step 1: a\n\nStep 2: b");
  const python = ["<python>1</python>", "<result>1</result>"];
  const search = ["<search>q</search>", "<result>r</result>"];
  const steps = ["first", ...python, ...search, ...python, "w", "x", "y", "z"];
  assert.equal(
    shortenedSteps(steps),
    [
      "Step 1: first",
      "...",
      "Step 4: <search>q</search>",
      "Step 5: <result>r</result>",
      "...",
      ...["w", "x", "y", "z"].map((text, i) => `Step ${8 + i}: ${text}`),
    ].join("\n\n"),
  );
});
