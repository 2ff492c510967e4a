import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { exports } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  exports: Record<string, string | { types?: string }>;
};

test("a name means the same thing at every entry point", () => {
  const entries = Object.entries(exports).flatMap(([name, target]) =>
    typeof target === "object" && target.types ? [{ name, file: `${root}/${target.types}` }] : [],
  );
  assert.ok(entries.length > 5);
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      skipLibCheck: true,
      types: ["node"],
    },
  );
  const checker = program.getTypeChecker();
  /** Where each exported name is declared, and which entry points export it from there. */
  const places = new Map<string, Map<ts.Declaration, string[]>>();
  for (const { name: entry, file } of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const declaration = symbol.declarations?.[0];
      if (!declaration) continue;
      const found = places.get(exported.name) ?? new Map<ts.Declaration, string[]>();
      found.set(declaration, [...(found.get(declaration) ?? []), entry]);
      places.set(exported.name, found);
    }
  }
  const double = [...places].flatMap(([name, found]) =>
    found.size > 1 ? [`${name}: ${[...found.values()].map(String).join(" / ")}`] : [],
  );
  assert.deepEqual(double, []);
});
