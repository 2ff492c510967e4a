import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packagePath } from "#platform/modules";
import { Policy } from "../../policy/policies.js";
import { mixed } from "../../tasks/tasks/mixed.js";
import { world } from "../../tasks/tasks/world.js";
import { taskTools } from "../../tasks/task-tools.js";
import { loopScene, showLoop } from "./page/shown-loop.js";
import { figureTheme } from "../draw/figure-theme.js";
import { theLoop } from "./the-loop.js";

const folder = mkdtempSync(join(tmpdir(), "loop-"));
after(() => rmSync(folder, { recursive: true }));
const shipped = packagePath("data/loop.json");

test("a loop is recorded, the same bytes from the same seed, and shown again from its file", async () => {
  const tools = taskTools(world);
  const { train } = mixed({ seed: 7 });
  const record = async () => {
    const policy = await Policy.load(packagePath("data/models/tiny"));
    const how = {
      tools,
      steps: 2,
      tries: 4,
      n: 4,
      initialRollouts: 2,
      responseLength: 160,
      seed: 5,
    };
    return theLoop(policy, train[5]!, { ...how, others: train.slice(20, 22) });
  };
  const [loop, again] = [await record(), await record()];
  await tools.dispose();
  const { payload } = loop;
  assert.equal(JSON.stringify(again.payload), JSON.stringify(payload));
  assert.equal(payload.updates, 2);
  assert.equal(payload.fresh.length, 3);
  for (const { share, low, high } of payload.fresh) assert.ok(low <= share && share <= high);
  assert.match(payload.note, /each of 2 updates on this question and 2 other questions/);
  // Before the first update the words are as likely as when they were drawn.
  const shown = showLoop(payload);
  for (const log of shown.logRatiosAt(0)) assert.equal(log, 0);
  assert.ok(
    shown.logRatiosAt(2).some((log) => log !== 0),
    "training changed something",
  );
  const { tree } = shown.facts;
  const open = shown.entropiesAt(0);
  tree.nodes.forEach(({ kind, start, length }) => {
    for (let t = start; kind === "model" && t < start + length; t++)
      assert.ok(Math.abs(open[t]! - tree.entropies[t]!) < 0.02, `${open[t]} ${tree.entropies[t]}`);
  });
  const path = join(folder, "loop.json");
  await loop.save(path);
  assert.deepEqual((await theLoop(path)).payload, JSON.parse(JSON.stringify(payload)));
  assert.match(loop.picture(), /^<svg /);
});

test("what is no recording is refused by name, and a loop prints as its words", async () => {
  const path = join(folder, "other.json");
  for (const [text, got] of [
    ["{", "no JSON"],
    ["{}", "other data"],
    ["null", "other data"],
    ['{"tree":{},"updates":3,"fresh":[]}', "other data"],
    [JSON.stringify({ ...JSON.parse(readFileSync(shipped, "utf8")), tree: [] }), "other data"],
  ] as const) {
    writeFileSync(path, text);
    await assert.rejects(theLoop(path), new RegExp(`loop\\.save\\(path\\) wrote, got ${got}$`));
  }
  await assert.rejects(
    theLoop(join(folder, "nowhere.json")),
    /Cannot show the loop: .* got no such file$/,
  );
  await assert.rejects(theLoop(folder), /got no regular file$/);
  const loop = await theLoop(shipped);
  assert.equal(String(loop), loop.summary);
  assert.ok(inspect(loop).length < 2000 && inspect(loop).includes("The right answer is 1665"));
});

test("acts show as much as they say: first tries, then branches, then what is right, then what changed", () => {
  const loop = showLoop(
    JSON.parse(readFileSync(shipped, "utf8")) as Parameters<typeof showLoop>[0],
  );
  const { facts, ends } = loop;
  const scene = (at: number) =>
    loopScene(
      loop,
      { at, step: 0, hasRatios: false },
      { width: 1200, maxHeight: 500, theme: figureTheme() },
    );
  const begun = (at: number) => {
    const { moment } = scene(at);
    return facts.above.flatMap((_, i) => (!moment || moment.at > moment.laneBorn[i]! ? [i] : []));
  };
  const first = facts.above.flatMap((above, i) => (above < 0 ? [i] : []));
  assert.deepEqual(begun(ends[0]), first);
  assert.equal(begun(ends[1]).length, facts.above.length);
  assert.ok(scene(ends[1]).moment!.at < scene(ends[1]).moment!.scored);
  assert.equal(scene(ends[2]).moment, undefined);
  // Right tries become more likely, and the right word of every card.
  const { updates } = loop.payload;
  const logRatios = loop.logRatiosAt(updates);
  facts.verdicts.forEach((verdict, i) => {
    if (verdict === "right") assert.ok(logRatios[i]! > 0.5, `trajectory ${i}: ${logRatios[i]}`);
  });
  loop.cards.forEach((_, card) =>
    assert.ok(loop.chance(card, 0, updates) > loop.chance(card, 0, 0)),
  );
});
