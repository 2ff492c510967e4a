// The ranges of numeric options, from the rules that `checkOptions` holds them to.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { sources } from "../../tools/architecture/imports.mjs";
import * as rules from "../../dist/common/options/check-options.js";

const nameOf = (property) => property.name?.getText();

/** Every table of rules (`const x: OptionRules<Y> = {…}`) and every interface's parents, by name. */
function declarations(root) {
  const tables = [];
  const parents = new Map();
  for (const path of sources()) {
    const text = readFileSync(join(root, path), "utf8");
    if (!/OptionRules<|interface \w+ extends/.test(text)) continue;
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const visit = (node) => {
      if (ts.isInterfaceDeclaration(node))
        parents.set(
          node.name.text,
          (node.heritageClauses ?? []).flatMap(({ types }) =>
            types.flatMap((one) => one.getText().match(/\w+/g)),
          ),
        );
      const type = ts.isVariableDeclaration(node) ? node.type?.getText() : undefined;
      const of = /^OptionRules<(.*)>$/s.exec(type ?? "")?.[1];
      if (of && node.initializer && ts.isObjectLiteralExpression(node.initializer))
        tables.push({ name: node.name.getText(), of: of.match(/\w+/g), node: node.initializer });
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return { tables, parents };
}

/** A function from a type and its option to the words of its range; undefined where it is no number. */
export function rangesOf(root) {
  const { tables, parents } = declarations(root);
  const scope = new Map(Object.entries(rules));
  const known = new Map();
  // A table may take rules from another one, so that they are read until nothing is new.
  for (let round = 0; round < 3; round++) {
    for (const { name, of, node } of tables) {
      const made = {};
      for (const property of node.properties) {
        if (!ts.isPropertyAssignment(property)) continue;
        try {
          const names = [...scope.keys()].filter((one) => /^\w+$/.test(one));
          const read = new Function(...names, `return ${property.initializer.getText()}`);
          made[nameOf(property)] = read(...names.map((one) => scope.get(one)));
        } catch {
          // It is made of something else, which is no range.
        }
      }
      scope.set(name, made);
      for (const type of of) known.set(type, { ...made, ...known.get(type) });
    }
  }
  const find = (type, option) =>
    known.get(type)?.[option] ??
    (parents.get(type) ?? []).map((parent) => find(parent, option)).find(Boolean);
  return (type, option) => {
    const rule = find(type, option);
    return rule?.number ? rule.must : undefined;
  };
}
