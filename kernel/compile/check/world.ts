// Everything cells can see apart from one another: the standard library, Node's types, packages and
// local files. It is a TypeScript program whose checker stays while that set stays the same.
import { libraryYear, manifestFrom, systemOf } from "#kernel-platform/system";
import { readFileSync } from "#platform/files";
import { dirname, join, resolve as resolvePath } from "#platform/path";
import { ambientTexts, cellNamesFile, globalsFile } from "./globals.js";
import { isDeclaredLater, libraryFolder, namesLater } from "./library.js";
import { isFile, packageFolder, statOf } from "./specifiers.js";
import {
  type api,
  type BoundFile,
  type InnerChecker,
  type InnerProgram,
  type TypeScript,
  typescript,
} from "./typescript.js";

/** Files that a person edits beside a notebook; the rest does not change while a session lasts. */
export function isLocalPath(path: string): boolean {
  return !path.includes("/node_modules/") && !/\.d\.[cm]?ts$/.test(path);
}

/** Always this package's own copy, whatever the notebook's folder has installed. */
const own = (specifier: string): boolean =>
  specifier === "arpo-lab/kernel" || specifier === "tslab";

export class World {
  readonly ts: TypeScript = typescript();
  readonly options: api.CompilerOptions;
  program!: InnerProgram;
  checker!: InnerChecker;
  /** Counts programs: a symbol's type is remembered by one checker only. */
  generation = 0;

  readonly #folder: string;
  readonly #roots = new Set<string>();
  readonly #files = new Map<string, { file: api.SourceFile; stamp: string | undefined }>();
  readonly #resolved = new Map<string, api.ResolvedModuleFull>();
  readonly #cells = new WeakSet<object>();
  #current: BoundFile | undefined;
  #boundSinceBuild = 0;
  /** Modules that are cells (`@module`): their text, and which of its versions that is. */
  readonly #virtual = new Map<string, { text: string; version: number }>();
  readonly #host: api.CompilerHost;
  #nodeTypes: boolean;
  /** The standard library is read whole, and not only what every cell sees of it. */
  #whole: boolean;

  constructor(folder: string, compilerOptions: Record<string, unknown>, nodeTypes = false) {
    const { ts } = this;
    this.#folder = folder;
    this.#nodeTypes = nodeTypes;
    this.#whole = nodeTypes || compilerOptions["lib"] !== undefined;
    const converted = ts.convertCompilerOptionsFromJson(compilerOptions, folder);
    if (converted.errors[0] !== undefined) {
      const reason = ts.flattenDiagnosticMessageText(converted.errors[0].messageText, " ");
      throw new TypeError(`Cannot use the compilerOptions of "arpo-lab": ${reason}`);
    }
    this.options = {
      strict: false,
      target: ts.ScriptTarget.ES2022,
      lib: [libraryYear(), "esnext.disposable"].map((name) => `lib.${name}.d.ts`),
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      customConditions: ["node"],
      esModuleInterop: true,
      allowJs: true,
      resolveJsonModule: true,
      allowImportingTsExtensions: true,
      preserveConstEnums: true,
      skipLibCheck: true,
      skipDefaultLibCheck: true,
      noErrorTruncation: false,
      newLine: ts.NewLineKind.LineFeed,
      moduleDetection: ts.ModuleDetectionKind.Force,
      ...converted.options,
      sourceMap: true,
      inlineSourceMap: false,
      removeComments: true,
      importHelpers: false, // a script cannot import them
      noEmitHelpers: false,
      types: [],
    };
    this.#host = this.#createHost();
  }

  /** Whether what is left of a cell without its types is what TypeScript would make of it. */
  get keepsText(): boolean {
    const { target = 0, useDefineForClassFields, emitDecoratorMetadata } = this.options;
    const current = target >= this.ts.ScriptTarget.ES2022 && useDefineForClassFields !== false;
    return current && emitDecoratorMetadata !== true;
  }

  /** Builds the program if it is not there, or if a local file has changed. */
  ensure(): void {
    if (this.program === undefined || this.#localChanged()) this.#build();
  }

  get hasNodeTypes(): boolean {
    return this.#nodeTypes;
  }

  loadNodeTypes(): void {
    if (this.#nodeTypes) return;
    this.#nodeTypes = true;
    this.#build();
  }

  /** Makes the modules that a cell names part of the program. True when the program was rebuilt. */
  include(specifiers: readonly string[], importer: string): boolean {
    let grown = this.program === undefined;
    for (const specifier of specifiers) {
      const file = this.resolve(specifier, importer);
      const bare = !/^[./]/.test(specifier);
      if (bare && !this.#nodeTypes && !own(specifier)) grown = this.#nodeTypes = true;
      if (file === undefined || !this.#readable(file)) continue;
      if (this.program?.getSourceFile(file.resolvedFileName) !== undefined) continue;
      this.#roots.add(file.resolvedFileName);
      grown = true;
    }
    if (grown) this.#build();
    return grown;
  }

  /**
   * How much the checker has seen: it remembers every cell it ever checked, about 20 kB each, so after
   * a while (1) it is better to begin again with one that knows only what is still in use.
   */
  get age(): number {
    return this.#boundSinceBuild / 250_000;
  }

  renew(): void {
    this.#build();
  }

  /** Where TypeScript finds a module; undefined for built-ins and for what is not there. */
  resolve(specifier: string, importer: string): api.ResolvedModuleFull | undefined {
    const key = `${dirname(importer)}\0${specifier}`;
    const known = this.#resolved.get(key);
    if (known !== undefined && this.#exists(known.resolvedFileName)) return known;
    const found = this.#find(specifier, importer);
    if (found === undefined) this.#resolved.delete(key);
    else this.#resolved.set(key, found);
    return found;
  }

  /** The kernel's own package stands in where the notebook's folder has none (see own-module.ts). */
  #find(
    specifier: string,
    importer: string,
    cache?: api.ModuleResolutionCache,
    mode?: api.ResolutionMode,
  ): api.ResolvedModuleFull | undefined {
    const from = (file: string, name = specifier): api.ResolvedModuleFull | undefined =>
      this.ts.resolveModuleName(name, file, this.options, this.#host, cache, undefined, mode)
        .resolvedModule;
    const inPackage = join(packageFolder, "cell.ts");
    if (own(specifier)) return from(inPackage, specifier === "tslab" ? "#tslab" : specifier);
    return from(importer) ?? (/^arpo-lab(\/|$)/.test(specifier) ? from(inPackage) : undefined);
  }

  /** Parses and binds the text of a cell as a module of its own. */
  bind(path: string, text: string, javascript: boolean): BoundFile {
    const { ts } = this;
    if (!this.#whole && namesLater(text)) this.#build(true);
    const file = ts.createSourceFile(
      path,
      text,
      {
        languageVersion: ts.ScriptTarget.ES2022,
        setExternalModuleIndicator: (made) => {
          const bound = made as BoundFile;
          bound.externalModuleIndicator ??= true;
        },
      },
      false,
      javascript ? ts.ScriptKind.JS : ts.ScriptKind.TS,
    ) as BoundFile;
    file.path = file.resolvedPath = file.originalFileName = path;
    file.imports = [];
    file.moduleAugmentations = [];
    file.ambientModuleNames = [];
    ts.bindSourceFile(file, this.options);
    this.#boundSinceBuild += text.length + 500;
    this.#cells.add(file);
    this.#current = file;
    return file;
  }

  /** The local files that `file` imports, and theirs, itself first. */
  localGraph(path: string): api.SourceFile[] {
    const seen = new Map<string, api.SourceFile>();
    const visit = (at: string): void => {
      const file = seen.has(at) || !isLocalPath(at) ? undefined : this.program.getSourceFile(at);
      if (file === undefined) return;
      seen.set(at, file);
      for (const specifier of (file as BoundFile).imports ?? []) {
        const target = this.resolve(specifier.text, at);
        if (target !== undefined) visit(target.resolvedFileName);
      }
    };
    visit(path);
    return [...seen.values()];
  }

  stamp(path: string): string {
    return this.#files.get(path)?.stamp ?? this.#stampOf(path);
  }

  /** Makes a text a module at this path, whether or not there is such a file. */
  addModule(path: string, text: string): void {
    const version = (this.#virtual.get(path)?.version ?? 0) + 1;
    this.#virtual.set(path, { text, version });
  }

  #stampOf(path: string): string {
    const virtual = this.#virtual.get(path);
    if (virtual !== undefined) return `cell ${virtual.version}`;
    const stat = statOf(path);
    return stat === undefined ? "" : `${stat.mtimeMs}:${stat.size}`;
  }

  #exists(path: string): boolean {
    return ambientTexts.has(path) || this.#virtual.has(path) || isFile(path);
  }

  /** Only declarations and the notebook's own sources are read; a package's JavaScript is not. */
  #readable(module: api.ResolvedModuleFull): boolean {
    if (/\.([cm]?ts|json)$/.test(module.resolvedFileName)) return true;
    return /\.[cm]?js$/.test(module.resolvedFileName) && module.isExternalLibraryImport !== true;
  }

  #localChanged(): boolean {
    for (const [path, { stamp }] of this.#files) {
      if (stamp !== undefined && stamp !== this.#stampOf(path)) return true;
    }
    return false;
  }

  #build(whole = this.#whole || this.#nodeTypes || this.#roots.size > 0): void {
    if (whole && !this.#whole) {
      this.#whole = true;
      for (const path of this.#files.keys()) if (isDeclaredLater(path)) this.#files.delete(path);
    }
    for (const [path, { stamp }] of this.#files) {
      if (stamp !== undefined && stamp !== this.#stampOf(path)) this.#files.delete(path);
    }
    for (const root of this.#roots) if (!this.#exists(root)) this.#roots.delete(root);
    const roots = [...this.#roots];
    if (this.#nodeTypes) roots.unshift(...nodeTypes(this.#folder));
    else roots.unshift(globalsFile);
    roots.unshift(cellNamesFile);
    const cache = this.ts.createModuleResolutionCache(this.#folder, (name) => name, this.options);
    this.#host.resolveModuleNameLiterals = (literals, importer, _, options, file) =>
      literals.map((literal) => {
        const mode = this.ts.getModeForUsageLocation(file, literal, options);
        return { resolvedModule: this.#find(literal.text, importer, cache, mode) };
      });
    const program = this.ts.createProgram({
      rootNames: roots,
      options: this.options,
      host: this.#host,
      oldProgram: this.program as unknown as api.Program | undefined,
    }) as unknown as InnerProgram;
    // The checker asks the program it was made from; cells answer first.
    const getResolvedModule = program.getResolvedModule;
    program.getResolvedModule = (file, name, mode) =>
      this.#cells.has(file)
        ? { resolvedModule: this.resolve(name, file.fileName) }
        : getResolvedModule(file, name, mode);
    const getSourceFile = program.getSourceFile;
    program.getSourceFile = (name) =>
      name === this.#current?.path ? this.#current : getSourceFile(name);
    const { isSourceFileDefaultLibrary } = program;
    program.isSourceFileDefaultLibrary = (file) =>
      isDeclaredLater(file.fileName) || isSourceFileDefaultLibrary(file);
    this.program = program;
    this.checker = program.getTypeChecker();
    this.generation++;
    this.#boundSinceBuild = 0;
  }

  #createHost(): api.CompilerHost {
    const { ts } = this;
    const libs = libraryFolder;
    const system = systemOf(ts.sys);
    const read = (path: string): string | undefined => {
      const text = ambientTexts.get(path) ?? this.#virtual.get(path)?.text;
      if (text !== undefined) return text;
      if (!this.#whole && isDeclaredLater(path)) return "";
      try {
        return readFileSync(path, "utf8");
      } catch {
        return undefined; // TypeScript asks for files that may not exist
      }
    };
    return {
      getSourceFile: (path, options) => {
        const known = this.#files.get(path);
        if (known !== undefined) return known.file;
        const local = isLocalPath(path);
        const stamp = local ? this.#stampOf(path) : undefined;
        const text = read(path);
        if (text === undefined) return undefined;
        // Documentation in libraries is read when somebody asks for it (see documentation.ts).
        const jsDocParsingMode = local
          ? ts.JSDocParsingMode.ParseAll
          : ts.JSDocParsingMode.ParseNone;
        const settings = typeof options === "object" ? options : { languageVersion: options };
        const file = ts.createSourceFile(path, text, { ...settings, jsDocParsingMode });
        this.#files.set(path, { file, stamp });
        return file;
      },
      getDefaultLibFileName: (options) => join(libs, ts.getDefaultLibFileName(options)),
      getDefaultLibLocation: () => libs,
      getCurrentDirectory: () => this.#folder,
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
      fileExists: (path) => this.#exists(path),
      directoryExists: (path) => statOf(path)?.isDirectory() === true,
      readFile: read,
      realpath: (path) => system.realpath?.(path) ?? resolvePath(path),
      getDirectories: (path) => system.getDirectories(path),
      readDirectory: (...all) => system.readDirectory(...all),
      writeFile: () => {
        throw new Error("Cannot write a file: a cell is compiled in memory");
      },
    };
  }
}

/** Node's types from the notebook's folder, or else from the kernel's. */
function nodeTypes(folder: string): string[] {
  for (const place of [folder, packageFolder]) {
    const manifest = manifestFrom(place, "@types/node");
    if (manifest !== undefined) return [join(dirname(manifest), "index.d.ts")];
  }
  return [globalsFile];
}
