import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOptions } from "./check-options.js";
import { Registry } from "./registry.js";

interface Shape {
  readonly name: string;
  readonly corners: number;
}

const shapes = () =>
  new Registry<Shape>("shape", [
    { name: "square", corners: 4 },
    { name: "triangle", corners: 3 },
  ]);

test("a choice is its name or a definition", () => {
  const registry = shapes();
  assert.equal(registry.of("draw", "shape", "square").corners, 4);
  const mine = { name: "pentagon", corners: 5 };
  assert.equal(registry.of("draw", "shape", mine), mine);
  assert.throws(() => registry.of("draw", "shape", "sqare"), {
    name: "RangeError",
    message:
      'Cannot draw: shape must be one of square, triangle, got "sqare"; did you mean "square"?',
  });
});

test("what is added is known to every check, also to one that was made before", () => {
  const registry = shapes();
  const { rule } = registry;
  const draw = (shape: unknown) => checkOptions("draw", { shape }, { shape: rule });
  assert.throws(
    () => draw("pentagon"),
    /^RangeError: Cannot draw: shape must be one of square, triangle, got "pentagon"/,
  );
  const mine = registry.add({ name: "pentagon", corners: 5 });
  registry.add(mine, "mine.ts#pentagon");
  draw("pentagon");
  draw("mine.ts#pentagon");
  draw({ name: "hexagon", corners: 6 });
  assert.throws(() => draw({ corners: 6 }), /shape must be one of square, triangle, pentagon/);
  assert.deepEqual(registry.names, ["square", "triangle", "pentagon", "mine.ts#pentagon"]);
  assert.equal(registry.all.length, 3);
  assert.equal(registry.built.length, 2);
});

test("a name is one definition's", () => {
  const registry = shapes();
  registry.add(registry.get("square")!);
  assert.throws(() => registry.add({ name: "square", corners: 4 }), {
    message:
      "Cannot add a shape: its name must not be another's, got square; known are square, triangle",
  });
});

test("a definition that is given itself is known by a name, where another has its own too", () => {
  const registry = shapes();
  const mine = { name: "square", corners: 4 };
  assert.equal(registry.nameOf(registry.get("square")!), "square");
  assert.equal(registry.nameOf(mine), "square-2");
  assert.equal(registry.nameOf({ ...mine }), "square-3");
  assert.equal(registry.nameOf(mine), "square-2");
  assert.equal(registry.nameOf({ name: "oval", corners: 0 }), "oval");
});
