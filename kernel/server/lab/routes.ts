import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statIfThereSync,
} from "#platform/files";
import { join } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { type Json, textField } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { writeAtomically } from "../../notebook/write.js";
import type { Router } from "../http/router.js";
import type { Pages } from "./pages.js";
import { isRecord } from "../../../common/options/is-record.js";

/** A text that was kept, with its times. */
interface Kept {
  name: string;
  text: string;
  created: string;
  last_modified: string;
}

/**
 * Texts by name: in a folder, or in memory where there is none. Names are hashed into file names, so
 * that no name can lead anywhere.
 */
class Store {
  readonly #folder: string | undefined;
  readonly #memory = new Map<string, Kept>();

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  #file(folder: string, name: string): string {
    return join(folder, `${sha256(name).slice(0, 32)}.json`);
  }

  get(name: string): Kept | undefined {
    if (this.#folder === undefined) return this.#memory.get(name);
    return this.#read(this.#file(this.#folder, name));
  }

  #read(file: string): Kept | undefined {
    try {
      const { name, text } = JSON.parse(readFileSync(file, "utf8")) as {
        name: string;
        text: string;
      };
      const { birthtimeMs, mtimeMs } = statIfThereSync(file)!;
      const time = (ms: number) => new Date(Math.round(ms)).toISOString();
      return { name, text, created: time(birthtimeMs), last_modified: time(mtimeMs) };
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return undefined;
      throw error;
    }
  }

  put(name: string, text: string): void {
    const now = new Date().toISOString();
    if (this.#folder === undefined) {
      this.#memory.set(name, { name, text, created: now, last_modified: now });
      return;
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeAtomically(this.#file(this.#folder, name), JSON.stringify({ name, text }));
  }

  delete(name: string): void {
    this.#memory.delete(name);
    if (this.#folder !== undefined) rmSync(this.#file(this.#folder, name), { force: true });
  }

  list(): Kept[] {
    if (this.#folder === undefined) return [...this.#memory.values()];
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return [];
      throw error;
    }
    const folder = this.#folder;
    return names
      .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
      .map((name) => this.#read(join(folder, name)))
      .filter((kept) => kept !== undefined);
  }
}

interface Schema {
  id: string;
  schema: Json;
  version: string;
}

/** The schemas of the page's plugins: `schemas/@scope/package/plugin.json`, as the build wrote them. */
function readSchemas(page: string | undefined): Map<string, Schema> {
  const all = new Map<string, Schema>();
  const root = page === undefined ? undefined : join(page, "schemas");
  if (root === undefined || !existsSync(root)) return all;
  for (const name of readdirSync(root, { recursive: true })) {
    const match = /^(@[^/\\]+)[/\\]([^/\\]+)[/\\]([^/\\]+)\.json$/.exec(name);
    if (match === null || match[3] === "package.json.orig") continue;
    const id = `${match[1]}/${match[2]}:${match[3]}`;
    const { version = "", ...schema } = JSON.parse(readFileSync(join(root, name), "utf8")) as Json;
    all.set(id, { id, schema, version: String(version) });
  }
  return all;
}

/** Adds what the JupyterLab application asks for beyond notebooks and kernels. */
export function labRoutes(
  router: Router,
  options: {
    page: string | undefined;
    data: string | undefined;
    started: Date;
    activity: () => Json;
    pages: Pages;
  },
): void {
  const { page, data, started } = options;
  const place = (name: string): string | undefined =>
    data === undefined ? undefined : join(data, "lab", name);
  const settings = new Store(place("settings"));
  const workspaces = new Store(place("workspaces"));
  const config = new Store(place("config"));
  let schemas: Map<string, Schema> | undefined;
  const allSchemas = (): Map<string, Schema> => (schemas ??= readSchemas(page));

  const setting = ({ id, schema, version }: Schema, brief: boolean): Json => {
    if (brief) return { id };
    const user = settings.get(id);
    const times = { created: user?.created ?? null, last_modified: user?.last_modified ?? null };
    return { id, schema, version, raw: user?.text ?? "{}", settings: {}, ...times };
  };
  const schemaOf = (id: string): Schema => {
    const schema = allSchemas().get(id);
    if (schema === undefined) throw new ErrorResponse(404, `No such setting: ${id}`);
    return schema;
  };
  const listSettings = (url: URL): Json => ({
    settings: [...allSchemas().values()].map((s) =>
      setting(s, url.searchParams.get("ids_only") === "true"),
    ),
  });
  router.on("GET", "/lab/api/settings/*", ({ params, url }) => {
    const id = params["path"] ?? "";
    return { json: id === "" ? listSettings(url) : setting(schemaOf(id), false) };
  });
  router.on("GET", "/lab/api/settings", ({ url }) => ({ json: listSettings(url) }));
  router.on("PUT", "/lab/api/settings/*", async (call) => {
    const { id } = schemaOf(call.params["path"] ?? "");
    const raw = textField(await call.json(), "raw");
    if (raw === undefined)
      throw new ErrorResponse(400, `Cannot save setting ${id}: raw is missing`);
    settings.put(id, raw);
    return { status: 204 };
  });

  const workspace = (id: string): Json => {
    const kept = workspaces.get(id);
    return kept === undefined
      ? { data: {}, metadata: { id } }
      : {
          ...(JSON.parse(kept.text) as Json),
          metadata: { id, last_modified: kept.last_modified, created: kept.created },
        };
  };
  const listWorkspaces = (): Json => {
    const all = workspaces.list().map(({ name }) => workspace(name));
    return { workspaces: { ids: workspaces.list().map(({ name }) => name), values: all } };
  };
  router.on("GET", "/lab/api/workspaces/*", ({ params }) => {
    const id = params["path"] ?? "";
    return { json: id === "" ? listWorkspaces() : workspace(id) };
  });
  router.on("GET", "/lab/api/workspaces", () => ({ json: listWorkspaces() }));
  router.on("PUT", "/lab/api/workspaces/*", async (call) => {
    const body = await call.json();
    workspaces.put(call.params["path"] ?? "", JSON.stringify({ data: body["data"] ?? {} }));
    return { status: 204 };
  });
  router.on("DELETE", "/lab/api/workspaces/*", ({ params }) => {
    workspaces.delete(params["path"] ?? "");
    return { status: 204 };
  });

  router.on("GET", "/lab/api/translations", () => ({
    json: { data: { en: { displayName: "English", nativeName: "English" } }, message: "" },
  }));
  router.on("GET", "/lab/api/translations/:locale", () => ({ json: { data: {}, message: "" } }));

  const section = (name: string): Json => JSON.parse(config.get(name)?.text ?? "{}") as Json;
  router.on("GET", "/api/config/:name", ({ params }) => ({ json: section(params["name"]!) }));
  router.on("PUT", "/api/config/:name", async (call) => {
    config.put(call.params["name"]!, JSON.stringify(await call.json()));
    return { status: 204 };
  });
  router.on("PATCH", "/api/config/:name", async (call) => {
    const name = call.params["name"]!;
    const merged = merge(section(name), await call.json());
    config.put(name, JSON.stringify(merged));
    return { json: merged };
  });

  // Not Jupyter's: a page answers what it was asked, such as what it saved.
  router.on("POST", "/lab/api/answered", async (call) => {
    const { id, ...answer } = await call.json();
    options.pages.answered(String(id), answer);
    return { status: 204 };
  });

  router.on("GET", "/api", () => ({ json: { version: "2.17.0" } }));
  router.on("GET", "/api/status", () => ({
    json: { started: started.toISOString(), ...options.activity() },
  }));
  router.on("GET", "/api/me", () => ({
    json: {
      identity: {
        username: "you",
        name: "You",
        display_name: "You",
        initials: "Y",
        avatar_url: null,
        color: null,
      },
      permissions: {},
    },
  }));
  router.on("GET", "/api/terminals", () => ({ json: [] }));
  router.on("GET", "/api/nbconvert", () => ({ json: {} }));
  router.on("GET", "/lsp/status", () => ({ json: { version: 2, sessions: {}, specs: {} } }));
}

/** Jupyter's rule: objects are merged, null takes away. */
function merge(into: Json, from: Json): Json {
  const result = new Map(Object.entries(into));
  for (const [key, value] of Object.entries(from)) {
    const old = result.get(key);
    if (value === null) result.delete(key);
    else if (isRecord(value)) result.set(key, merge(isRecord(old) ? old : {}, value));
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}
