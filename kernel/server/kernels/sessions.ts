import { randomUUID } from "#platform/uuid";
import type { Paths } from "../contents/paths.js";
import { type Json, textField } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Router } from "../http/router.js";
import type { Kernels } from "./kernels.js";

interface Session {
  id: string;
  path: string;
  name: string;
  type: string;
  kernel: string;
}

/** Which document uses which kernel. */
export class Sessions {
  readonly #kernels: Kernels;
  readonly #paths: Paths;
  readonly #sessions = new Map<string, Session>();
  /** Starts under way, so that two tabs that open one notebook at once get one kernel. */
  readonly #starting = new Map<string, Promise<Session>>();

  constructor(kernels: Kernels, paths: Paths) {
    this.#kernels = kernels;
    this.#paths = paths;
  }

  #get(id: string): Session {
    this.#prune();
    const session = this.#sessions.get(id);
    if (session === undefined) throw new ErrorResponse(404, `Session not found: ${id}`);
    return session;
  }

  #prune(): void {
    for (const session of this.#sessions.values()) {
      if (!this.#kernels.has(session.kernel)) this.#sessions.delete(session.id);
    }
  }

  /** A document was saved: its kernels need not keep what is in the file. */
  saved(path: string, content: Json): void {
    this.#prune();
    for (const session of this.#sessions.values()) {
      if (session.path === path) this.#kernels.get(session.kernel).executions.saved(content);
    }
  }

  forgetKernel(id: string): void {
    for (const session of this.#sessions.values()) {
      if (session.kernel === id) this.#sessions.delete(session.id);
    }
  }

  #model(session: Session): Json {
    const { id, path, name, type } = session;
    const { model } = this.#kernels.get(session.kernel);
    return { id, path, name, type, kernel: model, notebook: { path, name } };
  }

  list(): Json[] {
    this.#prune();
    return [...this.#sessions.values()].map((session) => this.#model(session));
  }

  async #kernelFor(path: string, asked: Json): Promise<string> {
    const id = textField(asked, "id");
    if (id !== undefined) return this.#kernels.get(id).id;
    const folder = this.#paths.folderOf(path);
    const name = textField(asked, "name") ?? "arpo-lab";
    return (await this.#kernels.start(name, folder, { JPY_SESSION_NAME: path })).id;
  }

  async create(body: Json): Promise<Json> {
    const path = textField(body, "path");
    if (path === undefined) throw new ErrorResponse(400, "Cannot start a session: path is missing");
    const type = textField(body, "type") ?? "notebook";
    this.#prune();
    const key = JSON.stringify([type, path]);
    const existing =
      [...this.#sessions.values()].find((s) => s.path === path && s.type === type) ??
      this.#starting.get(key);
    if (existing !== undefined) return this.#model(await existing);
    const start = async (): Promise<Session> => {
      const session: Session = {
        id: randomUUID(),
        path,
        name: textField(body, "name") ?? "",
        type,
        kernel: await this.#kernelFor(path, kernelField(body) ?? {}),
      };
      this.#sessions.set(session.id, session);
      return session;
    };
    const started = start();
    this.#starting.set(key, started);
    try {
      return this.#model(await started);
    } finally {
      this.#starting.delete(key);
    }
  }

  get(id: string): Json {
    return this.#model(this.#get(id));
  }

  async update(id: string, body: Json): Promise<Json> {
    const session = this.#get(id);
    const path = textField(body, "path") ?? session.path;
    const name = textField(body, "name") ?? session.name;
    const type = textField(body, "type") ?? session.type;
    const asked = kernelField(body);
    if (asked !== undefined) {
      const before = session.kernel;
      const kernel = await this.#kernelFor(path, asked);
      session.kernel = kernel;
      const shared = [...this.#sessions.values()].some((s) => s.kernel === before);
      if (kernel !== before && !shared) await this.#kernels.shutdown(before);
    }
    Object.assign(session, { path, name, type });
    return this.#model(session);
  }

  async delete(id: string): Promise<void> {
    const { kernel } = this.#get(id);
    this.#sessions.delete(id);
    if (this.#kernels.has(kernel)) await this.#kernels.shutdown(kernel);
  }
}

/** What a body says of the kernel; undefined where nothing. */
function kernelField(body: Json): Json | undefined {
  const { kernel } = body;
  if (kernel === undefined || kernel === null) return undefined;
  if (typeof kernel !== "object" || Array.isArray(kernel)) {
    throw new ErrorResponse(400, "Cannot start a session: kernel must be an object");
  }
  const { id, name } = kernel as Json;
  return (id ?? name) == null ? undefined : (kernel as Json);
}

/** Adds `/api/sessions`. */
export function sessionRoutes(router: Router, sessions: Sessions): void {
  router.on("GET", "/api/sessions", () => ({ json: sessions.list() }));
  router.on("POST", "/api/sessions", async (call) => ({
    status: 201,
    json: await sessions.create(await call.json()),
  }));
  router.on("GET", "/api/sessions/:id", ({ params }) => ({ json: sessions.get(params["id"]!) }));
  router.on("PATCH", "/api/sessions/:id", async (call) => ({
    json: await sessions.update(call.params["id"]!, await call.json()),
  }));
  router.on("DELETE", "/api/sessions/:id", async ({ params }) => {
    await sessions.delete(params["id"]!);
    return { status: 204 };
  });
}
