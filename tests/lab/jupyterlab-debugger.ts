// JupyterLab's own debugger without its page: what its panels read and its buttons call, in Node.
import type { Session } from "@jupyterlab/services";
import { build, type Plugin } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { until } from "../until.js";

/** A frame as the panel of callers lists it. */
export interface ShownFrame {
  id: number;
  name: string;
  line: number;
  source?: { path?: string };
}

/** A variable as the panel of variables lists it. */
export interface ShownVariable {
  name: string;
  value: string;
  variablesReference: number;
}

interface ShownBreakpoint {
  line: number;
}

/** `Debugger.Service` of `@jupyterlab/debugger`, as far as it is used here. */
interface Service {
  session: DebugSession | null;
  readonly isStarted: boolean;
  readonly model: {
    callstack: { frames: ShownFrame[]; frame: ShownFrame | null };
    variables: { scopes: { name: string; variables: ShownVariable[] }[] };
    breakpoints: { breakpoints: Map<string, ShownBreakpoint[]> };
    kernelSources: { kernelSources: { name: string; path: string }[] | null };
  };
  hasStoppedThreads(): boolean;
  getCodeId(code: string): string;
  restoreState(autoStart: boolean): Promise<void>;
  stop(): Promise<void>;
  updateBreakpoints(code: string, lines: { line: number }[], path?: string): Promise<void>;
  pauseOnExceptionsFilter(filter: string): Promise<void>;
  evaluate(expression: string): Promise<{ result: string } | null>;
  inspectVariable(reference: number): Promise<ShownVariable[]>;
  inspectRichVariable(name: string, frame?: number): Promise<{ data: Record<string, string> }>;
  copyToGlobals(name: string): Promise<void>;
  displayDefinedVariables(): Promise<void>;
  displayModules(): Promise<void>;
  getSource(source: { path: string }): Promise<{ content: string }>;
  continue(): Promise<void>;
  next(): Promise<void>;
  stepIn(): Promise<void>;
  stepOut(): Promise<void>;
}

interface DebugSession {
  readonly exceptionBreakpointFilters: { filter: string }[];
}

interface Parts {
  DebuggerService: new (options: { config: object }) => Service;
  DebuggerSession: new (options: {
    connection: Session.ISessionConnection;
    config: object;
  }) => DebugSession;
  DebuggerConfig: new () => object;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const lib = join(root, "node_modules/@jupyterlab/debugger/lib");

/** `./debugger` names every panel and what draws it; the service takes the model of it. */
const withoutPanels: Plugin = {
  name: "without-panels",
  setup(b) {
    b.onResolve({ filter: /^\.\/debugger$/ }, () => ({ path: "model-only", namespace: "lab" }));
    b.onLoad({ filter: /.*/, namespace: "lab" }, () => ({
      contents:
        'import { DebuggerModel as Model } from "./model";\nexport const Debugger = { Model };',
      resolveDir: lib,
    }));
    b.onResolve({ filter: /^@jupyterlab\/translation$/ }, () => ({
      path: resolve(root, "node_modules/@jupyterlab/translation/lib/base.js"),
    }));
  },
};

async function load(): Promise<Parts> {
  const folder = mkdtempSync(join(tmpdir(), "jupyterlab-debugger-"));
  try {
    const outfile = join(folder, "debugger.cjs");
    const names = ["service", "session", "config"];
    await build({
      stdin: {
        contents: names.map((name) => `export * from "./${name}";`).join("\n"),
        resolveDir: lib,
      },
      outfile,
      bundle: true,
      format: "cjs",
      platform: "node",
      mainFields: ["module", "main"],
      logLevel: "error",
      define: { "document.documentElement.lang": '"en"' },
      plugins: [withoutPanels],
    });
    return (await import(pathToFileURL(outfile).href)) as Parts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A person who debugs in JupyterLab: sets dots, presses buttons, reads the panels. */
export class JupyterLabDebugger {
  #last = 0;

  private constructor(readonly service: Service) {}

  /** Presses the bug of a notebook's toolbar. */
  static async start(connection: Session.ISessionConnection): Promise<JupyterLabDebugger> {
    const { DebuggerConfig, DebuggerService, DebuggerSession } = await load();
    const config = new DebuggerConfig();
    const service = new DebuggerService({ config });
    service.session = new DebuggerSession({ connection, config });
    await service.restoreState(true);
    return new JupyterLabDebugger(service);
  }

  /** What the page does when it hears that the kernel was restarted. */
  async restarted(): Promise<void> {
    this.#last = 0;
    await this.service.restoreState(true);
  }

  /** Sets the dots of a cell, or of a file. */
  async dots(source: { cell: string } | { path: string }, ...lines: number[]): Promise<number[]> {
    const [code, path] = "path" in source ? ["", source.path] : [source.cell, undefined];
    const given = lines.map((line) => ({ line }));
    await this.service.updateBreakpoints(code, given, path);
    const { breakpoints } = this.service.model.breakpoints;
    const shown = breakpoints.get(path ?? this.service.getCodeId(code)) ?? [];
    return shown.map(({ line }) => line);
  }

  /** Waits until the panels show the next stop; `name:line` of the callers. */
  async stopped(): Promise<string[]> {
    const { callstack, variables } = this.service.model;
    await until(
      () => (callstack.frames[0]?.id ?? this.#last) > this.#last && variables.scopes.length > 0,
      "the panels to show a stop",
    );
    this.#last = callstack.frames[0]!.id;
    return callstack.frames.map(({ name, line }) => `${name}:${line}`);
  }

  async press(button: "continue" | "next" | "stepIn" | "stepOut"): Promise<string[]> {
    await this.service[button]();
    return await this.stopped();
  }

  /** Looks at another caller. */
  async choose(frame: number): Promise<void> {
    const { callstack, variables } = this.service.model;
    variables.scopes = [];
    callstack.frame = callstack.frames[frame]!;
    await until(() => variables.scopes.length > 0, "the panel to show the caller's variables");
  }

  /** The panel of variables: a scope's names with their values. */
  scope(name: string): Map<string, string> {
    const scope = this.service.model.variables.scopes.find((one) => one.name === name);
    return new Map(scope?.variables.map((one) => [one.name, one.value]));
  }

  async evaluate(text: string): Promise<string | undefined> {
    return (await this.service.evaluate(text))?.result;
  }
}
