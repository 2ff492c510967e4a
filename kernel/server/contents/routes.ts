import { basename } from "#platform/path";
import { type Json, textField } from "../../../common/http-server/body.js";
import { ErrorResponse, toErrorResponse } from "../../../common/http-server/error-response.js";
import type { Answer, Router } from "../http/router.js";
import type { Contents } from "./contents.js";
import { type ContentsModel, mimeOf, type SaveModel } from "./model.js";

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

function created(model: ContentsModel): Answer {
  return {
    status: 201,
    json: model,
    headers: { location: `/api/contents/${encoded(model.path)}` },
  };
}

function flag(value: string | null): boolean | undefined {
  if (value === null) return undefined;
  if (value !== "0" && value !== "1") {
    throw new ErrorResponse(400, `Cannot read the address: a flag must be 0 or 1, got ${value}`);
  }
  return value === "1";
}

/**
 * Splits `a/b.ipynb/checkpoints/ID`; undefined where the path is not about checkpoints. Folders have
 * none, so what is below one is a folder, or a file, that is called `checkpoints`.
 */
async function checkpointOf(
  contents: Contents,
  path: string,
): Promise<{ path: string; id: string | undefined } | undefined> {
  const match = /^(.+)\/checkpoints(?:\/([\w-]+))?\/?$/.exec(path);
  if (match === null) return undefined;
  const isFolder = await contents.paths
    .use(match[1]!, "target", async (place) => place.status()?.isDirectory() === true)
    .catch((error: unknown) => {
      if (toErrorResponse(error).status >= 500) throw error;
      return false;
    });
  return isFolder ? undefined : { path: match[1]!, id: match[2] };
}

/** Adds the contents API and the raw files; `onNotebook` hears of each notebook that was saved. */
export function contentsRoutes(
  router: Router,
  contents: Contents,
  limit: number,
  onNotebook: (path: string, content: Json) => void,
): void {
  const at = "/api/contents/*";
  router.on("GET", at, async ({ params, url }) => {
    const path = params["path"] ?? "";
    const checkpoint = await checkpointOf(contents, path);
    if (checkpoint !== undefined && checkpoint.id === undefined) {
      return { json: await contents.checkpoints.list(checkpoint.path) };
    }
    const query = url.searchParams;
    const format = query.get("format") ?? undefined;
    if (format !== undefined && format !== "text" && format !== "base64") {
      throw new ErrorResponse(
        400,
        `Cannot read ${path}: format must be text or base64, got ${format}`,
      );
    }
    const model = await contents.get(path, {
      type: query.get("type") ?? undefined,
      format,
      content: flag(query.get("content")),
      hash: flag(query.get("hash")),
    });
    return { json: model };
  });
  router.on("GET", "/api/contents", async () => ({ json: await contents.get("") }));
  router.on(
    "PUT",
    at,
    async (call) => {
      const body = await call.json();
      const path = call.params["path"] ?? "";
      const { chunk, content } = body;
      if (chunk !== undefined && chunk !== null && !Number.isInteger(chunk)) {
        throw new ErrorResponse(400, "Cannot save: chunk must be a whole number");
      }
      const modified = textField(body, "last_modified");
      if (modified !== undefined && Number.isNaN(Date.parse(modified))) {
        const got = JSON.stringify(modified.slice(0, 100));
        throw new ErrorResponse(400, `Cannot save: last_modified must be a date, got ${got}`);
      }
      const model: SaveModel = {
        type: textField(body, "type"),
        format: textField(body, "format"),
        content,
        chunk: (chunk ?? undefined) as number | undefined,
        last_modified: modified,
        hash: textField(body, "hash"),
      };
      const from = textField(body, "copy_from");
      if (from !== undefined) {
        throw new ErrorResponse(400, "Cannot copy: copy_from goes with POST, not with PUT");
      }
      if (model.type === undefined && content !== undefined) {
        throw new ErrorResponse(400, `Cannot save ${path}: type is missing`);
      }
      const saved = await contents.save(path, model);
      if (saved.model.type === "notebook" && content != null) {
        onNotebook(saved.model.path, content as Json);
      }
      return saved.created ? created(saved.model) : { json: saved.model };
    },
    limit,
  );
  const post = async (path: string, body: Record<string, unknown>): Promise<Answer> => {
    const checkpoint = await checkpointOf(contents, path);
    if (checkpoint?.id !== undefined) {
      await contents.checkpoints.restore(checkpoint.path, checkpoint.id);
      return { status: 204 };
    }
    if (checkpoint !== undefined) {
      return { status: 201, json: await contents.checkpoints.create(checkpoint.path) };
    }
    const from = textField(body, "copy_from");
    if (from !== undefined) return created(await contents.copy(from, path));
    return created(await contents.create(path, textField(body, "type"), textField(body, "ext")));
  };
  router.on("POST", at, async (call) => post(call.params["path"] ?? "", await call.json()));
  router.on("POST", "/api/contents", async (call) => post("", await call.json()));
  router.on("PATCH", at, async (call) => {
    const to = textField(await call.json(), "path");
    if (to === undefined) throw new ErrorResponse(400, "Cannot rename: path is missing");
    return { json: await contents.rename(call.params["path"] ?? "", to) };
  });
  router.on("DELETE", at, async ({ params }) => {
    const path = params["path"] ?? "";
    const checkpoint = await checkpointOf(contents, path);
    if (checkpoint?.id !== undefined)
      await contents.checkpoints.delete(checkpoint.path, checkpoint.id);
    else await contents.delete(path);
    return { status: 204 };
  });
  router.on("GET", "/files/*", async ({ params, url }) => {
    const path = params["path"] ?? "";
    const opened = await contents.paths.use(path, "target", async (place) => place.openedFile());
    const name = basename(path);
    const attached = url.searchParams.get("download") === "1";
    return {
      opened,
      headers: {
        "content-type": mimeOf(name) ?? "application/octet-stream",
        // A page among the files must not act in the name of this server.
        "content-security-policy": "sandbox allow-scripts",
        ...(attached
          ? { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
          : {}),
      },
    };
  });
}
