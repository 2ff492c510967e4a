// Which script is which source: cells, files that cells import, and what is nobody's business.
import type { Debugger } from "node:inspector";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { DebugSource } from "../../contract/debug.js";
import type { MainInspector } from "../main-inspector.js";
import type { CellFiles } from "./cell-files.js";
import { positionsOf, type Positions } from "./positions.js";
import type { Target } from "./target.js";

/** A script, or one that is about to be. */
export interface Script {
  url: string;
  /** What its source is called towards the client. */
  path: string;
  name: string;
  kind: "cell" | "file" | "library";
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

export class Scripts {
  readonly #inspector: MainInspector;
  readonly #target: Target;
  readonly #cells: CellFiles;
  /** Of what V8 has told. */
  readonly #urls = new Map<string, { url: string; sourceMapURL: string }>();
  readonly #byUrl = new Map<string, Promise<Script | undefined>>();
  readonly #byPath = new Map<string, Set<string>>();

  constructor(inspector: MainInspector, target: Target, cells: CellFiles) {
    this.#inspector = inspector;
    this.#target = target;
    this.#cells = cells;
  }

  parsed({ scriptId, url, sourceMapURL }: Debugger.ScriptParsedEventDataType): boolean {
    if (isHidden(url)) return false;
    this.#urls.set(scriptId, { url, sourceMapURL: sourceMapURL ?? "" });
    return true;
  }

  /** Whether a frame is of a script that is shown: it is not Node's, nor the kernel's. */
  shows({ location }: Debugger.CallFrame): boolean {
    return this.#urls.has(location.scriptId);
  }

  /** A cell about to run: its names and map are at hand. */
  cell(url: string, source: string, js: string, map: string | undefined): Script {
    const path = this.#cells.add(source);
    return this.#add({
      url,
      path,
      name: nameOf(url),
      kind: "cell",
      positions: positionsOf(js, map),
    });
  }

  /** A file about to run. */
  async file(path: string): Promise<Script> {
    const { js, map } = await this.#target.call<DebugSource>("sourceOf", { value: path });
    const positions = positionsOf(js ?? "", map);
    const url = pathToFileURL(path).href; // as V8 has it from Node
    return this.#add({ url, path, name: basename(path), kind: "file", positions });
  }

  /** The script of a frame; undefined where there is nothing to show. */
  async of(scriptId: string): Promise<Script | undefined> {
    const known = this.#urls.get(scriptId);
    if (known === undefined) return undefined;
    let script = this.#byUrl.get(known.url);
    if (script === undefined) {
      this.#byUrl.set(known.url, (script = this.#find(scriptId, known.url, known.sourceMapURL)));
    }
    return await script;
  }

  /** Of all that V8 has told so far. */
  async all(): Promise<Script[]> {
    const scripts = await Promise.all([...this.#urls.keys()].map((id) => this.of(id)));
    return [...new Set(scripts.filter((script) => script !== undefined))];
  }

  /** The scripts that were made of a source. */
  async at(path: string): Promise<Script[]> {
    await this.all();
    const urls = [...(this.#byPath.get(path) ?? [])];
    const scripts = await Promise.all(urls.map((url) => this.#byUrl.get(url)));
    return scripts.filter((script) => script !== undefined);
  }

  clear(): void {
    this.#urls.clear();
    this.#byUrl.clear();
    this.#byPath.clear();
  }

  async #find(scriptId: string, url: string, mapUrl: string): Promise<Script | undefined> {
    const path = pathOf(url);
    const inline = /^data:application\/json[^,]*;base64,(.*)$/s.exec(mapUrl)?.[1];
    const asked = { value: path ?? url };
    const { source, map } = await this.#target.call<DebugSource>("sourceOf", asked);
    const own = inline === undefined ? map : Buffer.from(inline, "base64").toString();
    const { scriptSource: text } = own
      ? await this.#inspector.post<Debugger.GetScriptSourceReturnType>("Debugger.getScriptSource", {
          scriptId,
        })
      : { scriptSource: "" };
    const positions = positionsOf(text, own);
    if (source !== undefined) {
      return this.#add({
        url,
        path: this.#cells.add(source),
        name: nameOf(url),
        kind: "cell",
        positions,
      });
    }
    if (path === undefined) return undefined;
    const kind = url.startsWith(packageFolder) ? "library" : "file";
    return this.#add({ url, path, name: basename(path), kind, positions });
  }

  #add(script: Script): Script {
    this.#byUrl.set(script.url, Promise.resolve(script));
    const urls = this.#byPath.get(script.path) ?? new Set();
    this.#byPath.set(script.path, urls.add(script.url));
    return script;
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
