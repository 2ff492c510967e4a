import { type ColumnMap, sourceOf } from "../../contract/column-map.js";
import type { api } from "../check/typescript.js";
import type { World } from "../check/world.js";

/**
 * Hands to TypeScript what is left of a file whose names, imports and exports have been replaced. The
 * source map is that of the file: `columns` lead from the changed text to it.
 */
export function transpile(
  { ts, options }: World,
  text: string,
  columns: ColumnMap["columns"],
  file: api.SourceFile,
  source: string,
): { text: string; map: string } {
  const { outputText, sourceMapText = "" } = ts.transpileModule(text, {
    fileName: /js$/.test(file.fileName) ? "cell.js" : "cell.ts",
    compilerOptions: {
      ...options,
      module: ts.ModuleKind.ESNext,
      moduleDetection: ts.ModuleDetectionKind.Force,
    },
  });
  const host = { getCurrentDirectory: () => "", getCanonicalFileName: (name: string) => name };
  const generator = ts.createSourceMapGenerator(host, "", "", "", {});
  const index = generator.addSource(source);
  const { mappings } = JSON.parse(sourceMapText) as { mappings: string };
  for (const {
    generatedLine,
    generatedCharacter,
    sourceLine,
    sourceCharacter,
  } of ts.decodeMappings(mappings)) {
    if (sourceLine === undefined || sourceCharacter === undefined) continue;
    const { line, column } = sourceOf({ columns }, sourceLine + 1, sourceCharacter);
    // One line further down, after the head of the function.
    generator.addMapping(generatedLine + 1, generatedCharacter, index, line - 1, column);
  }
  return {
    text: outputText.replace(/(?:export \{\};\n)?\/\/# sourceMappingURL=.*\s*$/, ""),
    map: JSON.stringify(generator.toJSON()),
  };
}
