import assert from "node:assert/strict";
import { test } from "node:test";
import { bareResultBlock, isResult, resultBlock, resultBlocks, resultIn } from "./result-block.js";

test("resultIn() gives back what either kind of block was made of", () => {
  for (const said of ["42", "", "a\n\nb", "</result> and more", "<result>"]) {
    assert.equal(resultIn(resultBlock(said)), said);
    assert.equal(resultIn(bareResultBlock(said)), said);
  }
  assert.equal(resultIn(resultBlock("\nlines around it\n")), "\nlines around it\n");
});

test("resultIn() takes a block that was cut, and no other text", () => {
  assert.equal(resultIn(" <result>\nhalf of wh"), "half of wh");
  assert.equal(resultIn("I see <result>42</result>"), undefined);
  assert.ok(!isResult("result"));
});

test("resultBlocks() finds every block with the space before it, and none that is open", () => {
  const text = `a${resultBlock("1")}${resultBlock("2")}b${bareResultBlock("3")} <result>4`;
  const found = [...resultBlocks(text)].map(({ from, to }) => text.slice(from, to));
  assert.deepEqual(found, [resultBlock("1"), resultBlock("2"), bareResultBlock("3")]);
});
