import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { program as board } from "#pages/board";
import { program as branching } from "#pages/branching";
import { program as credit } from "#pages/credit";
import { program as evaluation } from "#pages/evaluation";
import { program as explain } from "#pages/explain";
import { program as explorer } from "#pages/explorer";
import { program as tokens } from "#pages/tokens";
import { palettes } from "../../common/picture/palette.js";

const colours = { light: palettes.auto, dark: palettes.dark };
const programs = { board, branching, credit, evaluation, explain, explorer, tokens };

/** A page without the view's element: its program finds nothing to bring to life. */
const empty = { getElementById: () => null, querySelectorAll: () => [] };

for (const [name, program] of Object.entries(programs)) {
  test(`the ${name}'s program stands alone: it needs nothing but a document`, () => {
    vm.runInNewContext(`${program}\npage.start("nowhere", colours)`, { document: empty, colours });
    assert.doesNotMatch(program, /\b(import|require|process)\b[.(]|<\/script|<!--|Symbol\.for/);
  });
}
