// A session without sockets or threads, for tests: the compiler and the scope joined directly.
import vm from "node:vm";
import { FakeHost } from "../display/fake-host.js";
import { createCellCompiler } from "../../kernel/compile/compiler.js";
import type {
  CellDiagnostic,
  CellCompiler,
  CompiledCell,
  CompilerOptions,
} from "../../kernel/contract/compiler.js";
import { createCellScope, type SessionScope } from "../../kernel/run/scope/scope.js";

type Compiled = Extract<CompiledCell, { js: string }>;

/** Thrown by `run` when a cell does not compile. */
export class DoesNotCompile extends Error {
  constructor(readonly diagnostics: CellDiagnostic[]) {
    super(diagnostics.map((d) => `${d.line}:${d.column} ${d.message}`).join("\n"));
  }
}

export class TestSession {
  readonly compiler: CellCompiler;
  readonly scope: SessionScope;
  readonly host = new FakeHost();
  #count = 0;

  constructor(
    readonly folder: string,
    options: Partial<CompilerOptions> = {},
  ) {
    this.compiler = createCellCompiler({ language: "typescript", folder, ...options });
    this.scope = createCellScope(this.host, (specifier, importer) =>
      Promise.resolve(this.compiler.load(specifier, importer)),
    );
  }

  async compile(source: string): Promise<CompiledCell & { id: string }> {
    const id = String(++this.#count);
    const compiled = await this.compiler.compile({
      id,
      count: this.#count,
      source,
      filename: `cell-${id}.ts`,
      folder: this.folder,
      kind: "cell",
    });
    return { ...compiled, id };
  }

  /** Runs a cell and returns the value of its last expression. */
  async run(source: string): Promise<unknown> {
    const compiled = await this.compile(source);
    if (!compiled.ok) throw new DoesNotCompile(compiled.diagnostics);
    if (!("js" in compiled)) return undefined;
    return this.evaluate(compiled);
  }

  async evaluate(compiled: Compiled & { id: string }): Promise<unknown> {
    let outcome: "ok" | "error" = "error";
    try {
      const cell = new vm.Script(compiled.js, { filename: `cell-${compiled.id}.ts` });
      const run = cell.runInThisContext() as (
        scope: SessionScope,
      ) => Promise<{ value: unknown } | undefined>;
      const box = await run(this.scope);
      outcome = "ok";
      return box?.value;
    } finally {
      this.compiler.settled(compiled.id, outcome, this.scope.made(compiled.id));
    }
  }

  /** The errors of a cell that should not compile. */
  async errors(source: string): Promise<string[]> {
    const compiled = await this.compile(source);
    if (compiled.ok) return [];
    return compiled.diagnostics.map((d) => `${d.line}:${d.column} ${d.message}`);
  }
}
