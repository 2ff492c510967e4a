// The JavaScript compiler inside the kernel: stock TypeScript 6.0, the last line with a JavaScript API.
//
// Cells are checked by one checker that lives as long as the session's imports do not change: a new
// cell is parsed, bound and checked, and nothing else is. The public API has no word for that, so a
// few functions that typescript.js exports but typescript.d.ts does not mention are typed here, in one
// place. The version is pinned in package.json.
import type * as api from "typescript";
import { loadTypeScript } from "#kernel-platform/load-typescript";

export type { api };

/** What binding leaves on a node that opens a scope. */
export interface Scoped {
  locals?: Map<string, api.Symbol>;
  parent?: api.Node;
}

/** A source file after parsing and binding, with what the program would have written on it. */
export interface BoundFile extends api.SourceFile {
  path: string;
  resolvedPath: string;
  originalFileName: string;
  imports: api.StringLiteralLike[];
  moduleAugmentations: api.Node[];
  ambientModuleNames: string[];
  externalModuleIndicator?: api.Node | true;
  commonJsModuleIndicator?: api.Node;
  locals?: Map<string, api.Symbol>;
  parseDiagnostics: api.DiagnosticWithLocation[];
  bindDiagnostics: api.DiagnosticWithLocation[];
  /** Type 0 is `@ts-expect-error`, 1 is `@ts-ignore`. */
  commentDirectives?: { range: api.TextRange; type: 0 | 1 }[];
  symbol?: api.Symbol;
}

export interface InnerChecker extends api.TypeChecker {
  getDiagnostics(file: api.SourceFile, token?: api.CancellationToken): api.Diagnostic[];
  resolveName(
    name: string,
    location: api.Node | undefined,
    meaning: api.SymbolFlags,
    excludeGlobals: boolean,
  ): api.Symbol | undefined;
  isUnknownSymbol(symbol: api.Symbol): boolean;
}

export interface InnerProgram extends Omit<api.Program, "getTypeChecker"> {
  getTypeChecker(): InnerChecker;
  getResolvedModule(
    file: api.SourceFile,
    name: string,
    mode: api.ResolutionMode,
  ): { resolvedModule: api.ResolvedModuleFull | undefined } | undefined;
}

/** Lines and columns from 0; without a source: code that comes from nowhere. */
interface Mapping {
  generatedLine: number;
  generatedCharacter: number;
  sourceLine?: number;
  sourceCharacter?: number;
}

interface MapGenerator {
  addSource(name: string): number;
  addMapping(
    line: number,
    column: number,
    source: number,
    sourceLine: number,
    sourceColumn: number,
  ): void;
  toJSON(): { mappings: string; sources: string[]; names: string[] };
}

interface Inner {
  bindSourceFile(file: api.SourceFile, options: api.CompilerOptions): void;
  isExpressionNode(node: api.Node): boolean;
  /** 0: not assigned here; 1: by `=`, `||=` and the like, or in a pattern; 2: by `+=`, `++` and the like. */
  getAssignmentTargetKind(node: api.Node): 0 | 1 | 2;
  skipTrivia(text: string, position: number): number;
  getModuleInstanceState(node: api.Node): number;
  decodeMappings(mappings: string): Iterable<Mapping>;
  createSourceMapGenerator(
    host: object,
    file: string,
    sourceRoot: string,
    sourcesDirectory: string,
    options: object,
  ): MapGenerator;
  findPrecedingToken(position: number, file: api.SourceFile): api.Node | undefined;
  getTouchingPropertyName(file: api.SourceFile, position: number): api.Node;
  typeToDisplayParts(
    checker: api.TypeChecker,
    type: api.Type,
    container?: api.Node,
  ): api.SymbolDisplayPart[];
  SymbolDisplay: {
    getSymbolDisplayPartsDocumentationAndSymbolKind(
      checker: api.TypeChecker,
      symbol: api.Symbol,
      file: api.SourceFile,
      container: api.Node | undefined,
      location: api.Node,
    ): {
      symbolKind: string;
      displayParts: api.SymbolDisplayPart[];
      documentation: api.SymbolDisplayPart[];
      tags: api.JSDocTagInfo[] | undefined;
    };
  };
  Completions: {
    getCompletionsAtPosition(
      host: object,
      program: object,
      log: () => void,
      file: api.SourceFile,
      position: number,
      preferences: api.UserPreferences,
      trigger: undefined,
      kind: api.CompletionTriggerKind,
      token: api.CancellationToken,
      format: undefined,
      includeSymbol: boolean,
    ): api.CompletionInfo | undefined;
    getCompletionEntryDetails(
      program: object,
      log: () => void,
      file: api.SourceFile,
      position: number,
      entry: { name: string; source?: string; data?: api.CompletionEntryData },
      host: object,
      format: object,
      preferences: api.UserPreferences,
      token: api.CancellationToken,
    ): api.CompletionEntryDetails | undefined;
  };
  SignatureHelp: {
    getSignatureHelpItems(
      program: object,
      file: api.SourceFile,
      position: number,
      reason: undefined,
      token: api.CancellationToken,
    ): api.SignatureHelpItems | undefined;
  };
}

export type TypeScript = typeof api & Inner;

/** Never cancels: a cell is checked in milliseconds. */
export const uncancelled: api.CancellationToken = {
  isCancellationRequested: () => false,
  throwIfCancellationRequested: () => undefined,
};

let loaded: TypeScript | undefined;

/** The compiler, loaded once a thread. */
export function typescript(): TypeScript {
  loaded ??= loadTypeScript() as TypeScript;
  return loaded;
}
