import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../temporary.js";

interface Parameter {
  owner: string;
  name: string;
  comment: string;
}
const script = new URL("../../../tools/architecture/documented.mjs", import.meta.url);
const { parametersIn, undescribedParameters } = (await import(script.href)) as {
  parametersIn(paths: readonly string[]): Parameter[];
  undescribedParameters(paths?: readonly string[]): { count: number; faults: string[] };
};

const declarations = `
interface DrawOptions { width?: number }
/**
 * Draws.
 * @param tree the tree to draw
 */
export declare function draw(tree: object, scale: number, options?: DrawOptions): void;
/** @param text the text to read */
declare function read(text: string): void;
declare function read(bytes: Uint8Array): void;
export { read };
export declare class Pen {
  constructor(colour: string);
  /** @param to where the line ends */
  line(to: number, { dashed }?: { dashed?: boolean }): void;
  /** @internal */
  lift(height: number): void;
  protected dip(depth: number): void;
  #ink(amount: number): void;
}
export interface Tool {
  /** @param input what the model wrote */
  execute(input: string, call: object): string;
}
export declare const shapes: { circle: (radius: number) => void; read: typeof read };
`;

test("every parameter of an exported function, method and constructor is found with its description", () => {
  const path = join(temporaryFolder("documented"), "index.d.ts");
  writeFileSync(path, declarations);
  const found = parametersIn([path]).map(({ owner, name, comment }) => [owner, name, comment]);
  // Left out: options, destructured parameters, and what is internal, protected or private.
  assert.deepEqual(found, [
    ["draw", "tree", "the tree to draw"],
    ["draw", "scale", ""],
    ["read", "text", "the text to read"],
    ["read", "bytes", ""],
    ["Pen", "colour", ""],
    ["Pen.line", "to", "where the line ends"],
    ["Tool.execute", "input", "what the model wrote"],
    ["Tool.execute", "call", ""],
    ["shapes.circle", "radius", ""],
  ]);
});

test("a parameter without a description, or with its name alone, is refused", () => {
  const path = join(temporaryFolder("documented"), "index.ts");
  writeFileSync(
    path,
    `
/** @param tree the tree */
export function draw(tree: object) {}
/** @param tree the tree to count the nodes of */
export function count(tree: object) {}
export const shapes = {
  /** @param radius half the width */
  circle: (radius: number) => {},
  square: (side: number) => {},
};
/**
 * Paints.
 * @param colour the name of a colour
 */
type Paint = (colour: string, times: number) => void;
export const paint: Paint = () => {};
`,
  );
  const { count, faults } = undescribedParameters([path]);
  assert.equal(count, 6);
  assert.deepEqual(
    faults.map((fault) => fault.replace(/^.*: /, "")),
    [
      'draw needs "@param tree …" in its doc comment, in more words than its name',
      'paint needs "@param times …" in its doc comment, in more words than its name',
      'shapes.square needs "@param side …" in its doc comment, in more words than its name',
    ],
  );
});
