// Which script is which source: cells, files that cells import, and what is nobody's business.
import type { Debugger } from "node:inspector";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { DebugSource } from "../../contract/debug.js";
import type { MainInspector } from "../process/main-inspector.js";
import type { CellFiles } from "./cell-files.js";
import { type Positions, positionsOf } from "./positions.js";
import type { Target } from "./target.js";

/** A script, or one that is about to be. */
export interface Script {
  /** What V8 knows it by: a file by its number, as one path may be loaded twice; a cell by its URL, before it runs. */
  at: { scriptId: string } | { url: string };
  /** What its source is called towards the client. */
  path: string;
  name: string;
  kind: "cell" | "file" | "library";
  /** Whether Node has loaded it, and not the kernel, in whose files imported names are called otherwise. */
  isNodes: boolean;
  positions: Positions;
}

const kernelFolder = new URL("../../", import.meta.url).href;
const packageFolder = new URL("../../../", import.meta.url).href;

/** Scripts that are neither shown nor stepped into: Node's own, the kernel's, packages. */
export const hiddenPatterns = [
  "^node:",
  "^internal/",
  "^evalmachine",
  `^${escaped(kernelFolder)}`,
  // Our own package may lie among the packages of a project, and what it computes is what is learned.
  `^(?!${escaped(packageFolder)}).*[\\\\/]node_modules[\\\\/]`,
  `^${escaped(packageFolder)}(?:dist/)?(?:vendor|node_modules|picture|spelling|http-server)/`,
];
const hidden = hiddenPatterns.map((pattern) => new RegExp(pattern));

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function isHidden(url: string): boolean {
  return url === "" || hidden.some((pattern) => pattern.test(url));
}

/** What V8 tells of a script when it has read it. */
interface Parsed {
  url: string;
  sourceMapURL: string;
  isModule: boolean;
}

export class Scripts {
  readonly #inspector: MainInspector;
  readonly #target: Target;
  readonly #cells: CellFiles;
  /** Of what V8 has told. */
  readonly #parsed = new Map<string, Parsed>();
  readonly #cellsByUrl = new Map<string, Script>();
  readonly #byId = new Map<string, Promise<Script | undefined>>();

  constructor(inspector: MainInspector, target: Target, cells: CellFiles) {
    this.#inspector = inspector;
    this.#target = target;
    this.#cells = cells;
  }

  parsed(script: Debugger.ScriptParsedEventDataType): void {
    const { scriptId, url, sourceMapURL = "", isModule = false } = script;
    if (!isHidden(url)) this.#parsed.set(scriptId, { url, sourceMapURL, isModule });
  }

  /** Whether a frame is of a script that is shown: it is not Node's, nor the kernel's. */
  shows({ location }: Debugger.CallFrame): boolean {
    return this.#parsed.has(location.scriptId);
  }

  /** A cell about to run: its names and map are at hand. */
  cell(url: string, source: string, js: string, map: string | undefined): Script {
    const script = this.#cellOf(url, source, positionsOf(js, map));
    this.#cellsByUrl.set(url, script);
    return script;
  }

  /** The script of a frame; undefined where there is nothing to show. */
  async of(scriptId: string): Promise<Script | undefined> {
    const parsed = this.#parsed.get(scriptId);
    if (parsed === undefined) return undefined;
    const cell = this.#cellsByUrl.get(parsed.url);
    if (cell !== undefined) return cell;
    let script = this.#byId.get(scriptId);
    if (script === undefined) this.#byId.set(scriptId, (script = this.#find(scriptId, parsed)));
    return await script;
  }

  /** The path of a script's file, before anything else of it is known. */
  pathOf(scriptId: string): string | undefined {
    const parsed = this.#parsed.get(scriptId);
    return parsed && pathOf(parsed.url);
  }

  /** Of all that V8 has told so far, and cells that it has yet to see. */
  async all(): Promise<Script[]> {
    const scripts = await Promise.all([...this.#parsed.keys()].map((id) => this.of(id)));
    const known = [...this.#cellsByUrl.values(), ...scripts];
    return [...new Set(known.filter((script) => script !== undefined))];
  }

  /** The scripts that were made of a source. */
  async at(path: string): Promise<Script[]> {
    return (await this.all()).filter((script) => script.path === path);
  }

  clear(): void {
    this.#parsed.clear();
    this.#cellsByUrl.clear();
    this.#byId.clear();
  }

  async #find(scriptId: string, { url, sourceMapURL, isModule }: Parsed) {
    const path = pathOf(url);
    const inline = /^data:application\/json[^,]*;base64,(.*)$/s.exec(sourceMapURL)?.[1];
    const asked = { value: path ?? url };
    const { source, map } = await this.#target.call<DebugSource>("sourceOf", asked);
    const isNodes = isModule || inline !== undefined || map === undefined;
    const kernels = isNodes ? undefined : map;
    const own = inline === undefined ? kernels : Buffer.from(inline, "base64").toString();
    const { scriptSource: text } = own
      ? await this.#inspector.post<Debugger.GetScriptSourceReturnType>("Debugger.getScriptSource", {
          scriptId,
        })
      : { scriptSource: "" };
    const positions = positionsOf(text, own);
    if (source !== undefined) return this.#cellOf(url, source, positions);
    if (path === undefined) return undefined;
    const kind = url.startsWith(packageFolder) ? "library" : "file";
    const script: Script = {
      at: { scriptId },
      path,
      name: basename(path),
      kind,
      isNodes,
      positions,
    };
    return script;
  }

  #cellOf(url: string, source: string, positions: Positions): Script {
    const path = this.#cells.add(source);
    return { at: { url }, path, name: nameOf(url), kind: "cell", isNodes: false, positions };
  }
}

/** `cell-3.ts` is cell 3. */
function nameOf(url: string): string {
  const count = /^cell-(\d+)\./.exec(url)?.[1];
  return count === undefined ? url : `cell ${count}`;
}

function pathOf(url: string): string | undefined {
  return url.startsWith("file:") ? fileURLToPath(url.split("?")[0]!) : undefined;
}
