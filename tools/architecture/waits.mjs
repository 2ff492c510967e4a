// Tests that wait a fixed time or judge by the clock: both fail on a busy machine and hide what they
// wait for. Cells are looked into as well: one that is to wait for its test has a gate (tests/gate.ts).
// A sleep that stands in for something slow says so on its line: `// slow: a tool`.
import ts from "typescript";
import { parse, sources } from "./imports.mjs";

/** Every such place as `path:line: what`. */
export function fixedWaits() {
  const found = [];
  for (const path of sources({ tests: true }).filter((p) => /\.test\.ts$/.test(p))) {
    const file = parse(path);
    const lines = file.text.split("\n");
    const report = (node, what) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      if (!/\/\/ slow: /.test(`${lines[line - 1] ?? ""}\n${lines[line]}`))
        found.push(`${path}:${line + 1}: ${what}`);
    };
    const visit = (node) => {
      if (ts.isAwaitExpression(node) && sleeps(node.expression)) report(node, "a fixed wait");
      if (isText(node) && sleepInText.test(node.text)) report(node, "a fixed wait in a cell");
      if (ts.isBinaryExpression(node) && compares(node) && clock.test(node.getText(file)))
        report(node, "judged by the clock");
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

const isText = (node) =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateHead(node) ||
  ts.isTemplateMiddle(node) ||
  ts.isTemplateTail(node);

/** A sleep of 10 ms or more. Shorter ones only let others have their turn. */
const sleepInText =
  /\bnew Promise(?:<\w*>)?\(\(?[\w, ]*\)?\s*=>\s*\{?\s*setTimeout\([\w.]+,\s*\d[\d_]+\b/;

const clock = /\bperformance\.now\(\)|\bDate\.now\(\) *-|- *Date\.now\(\)/;

const compares = ({ operatorToken: { kind } }) =>
  [
    ts.SyntaxKind.LessThanToken,
    ts.SyntaxKind.LessThanEqualsToken,
    ts.SyntaxKind.GreaterThanToken,
    ts.SyntaxKind.GreaterThanEqualsToken,
  ].includes(kind);

/** `new Promise(r => setTimeout(r, …))`, or a call of `delay` or `sleep`. */
function sleeps(node) {
  if (ts.isCallExpression(node))
    return (
      ts.isIdentifier(node.expression) && /^(delay|sleep|setTimeout)$/.test(node.expression.text)
    );
  return (
    ts.isNewExpression(node) &&
    node.expression.getText() === "Promise" &&
    /^\(?[\w, ]*\)?\s*=>\s*\{?\s*setTimeout\(/.test(node.arguments?.[0]?.getText() ?? "")
  );
}
