import { existsSync, readdirSync, readFileSync } from "#platform/files";
import { join } from "#platform/path";
import { type Json, textField } from "../../../http-server/body.js";
import { ErrorResponse } from "../../../http-server/error-response.js";
import type { Router } from "../http/router.js";
import type { Pages } from "./pages.js";
import { Store } from "./store.js";

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

  // Not Jupyter's: a page says what it saved when it was asked to.
  router.on("POST", "/lab/api/saved", async (call) => {
    const { id, ...report } = await call.json();
    options.pages.answered(String(id), report);
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
    else if (isObject(value)) result.set(key, merge(isObject(old) ? old : {}, value));
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
