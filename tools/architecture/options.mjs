// Options are checked by `checkOptions`, which knows their names. `checkArguments` looks at kinds alone: a
// misspelled option would be silently ignored.
import ts from "typescript";
import { parse, sources } from "./imports.mjs";

const free = /^common\/options\//;

/** Every call of `checkArguments` that is given options, as `path:line`. */
export function uncheckedOptions() {
  const found = [];
  for (const path of sources().filter((p) => !free.test(p))) {
    const file = parse(path);
    const visit = (node) => {
      if (
        ts.isCallExpression(node) &&
        node.expression.getText(file) === "checkArguments" &&
        node.arguments[1]?.properties?.some(({ name }) => name?.getText(file) === "options")
      ) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
        found.push(`${path}:${line + 1}: checkOptions must check options`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}
