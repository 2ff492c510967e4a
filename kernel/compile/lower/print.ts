import { type api, uncancelled } from "../check/typescript.js";
import type { World } from "../check/world.js";

export interface Printed {
  text: string;
  map: { version: 3; sources: string[]; names: string[]; mappings: string };
}

/** Runs TypeScript's own transformers after ours and prints the result with its source map. */
export function printLowered(
  world: World,
  file: api.SourceFile,
  before: api.TransformerFactory<api.SourceFile>,
  source: string,
): Printed {
  const { ts, program, options } = world;
  // A file without imports is a script to the printer, which marks it with `export {}`.
  const after: api.TransformerFactory<api.SourceFile> = () => (node) =>
    ts.factory.updateSourceFile(
      node,
      node.statements.filter((statement) => !ts.isExportDeclaration(statement)),
    );
  const transformers = ts.getTransformers(options, { before: [before], after: [after] }, 0);
  const resolver = world.checker.getEmitResolver(file, uncancelled, true);
  const result = ts.transformNodes(
    resolver,
    program,
    ts.factory,
    options,
    [file],
    transformers.scriptTransformers,
    false,
  );
  const printer = ts.createPrinter(
    { newLine: options.newLine, removeComments: true, target: options.target } as object,
    {
      onEmitNode: result.emitNodeWithNotification,
      isEmitNotificationEnabled: result.isEmitNotificationEnabled,
      substituteNode: result.substituteNode,
    },
  ) as unknown as FilePrinter;
  const host = {
    getCurrentDirectory: () => "",
    getCanonicalFileName: (name: string) => name,
  };
  const generator = ts.createSourceMapGenerator(host, "", "", "", {});
  const writer = ts.createTextWriter("\n");
  const [transformed] = result.transformed;
  printer.writeFile(transformed!, writer, generator);
  result.dispose();
  const { mappings, names } = generator.toJSON();
  return { text: writer.getText(), map: { version: 3, sources: [source], names, mappings } };
}

interface FilePrinter {
  writeFile(file: api.SourceFile, writer: object, generator: object): void;
}
