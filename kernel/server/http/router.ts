import type { Bytes } from "../../../common/platform/bytes.js";
import { type Asked, type Json, readBody, readJson } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";

/** What a handler is given. */
export interface Call {
  request: Asked;
  url: URL;
  /** The named parts of the pattern, decoded. `path` is all that `*` stood for, decoded by segment. */
  params: Record<string, string>;
  /** The body as it came. */
  body(): Promise<Bytes>;
  /** The body as a JSON object. */
  json(): Promise<Json>;
}

/** A file that is open already. */
export interface OpenedFile {
  fd: number;
  size: number;
}

/** What a handler answers with; an object is sent as JSON. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  bytes?: Uint8Array;
  /** A file to stream. */
  file?: string;
  /** An open file to stream; whoever answers closes it. */
  opened?: OpenedFile;
}

type Handler = (call: Call) => Answer | Promise<Answer>;

interface Route {
  method: string;
  parts: string[];
  handler: Handler;
  limit: number;
}

/** How large a JSON body may be where nothing larger is asked for. */
const smallBody = 4 << 20;

/** One segment of a path, decoded; what could lead elsewhere is refused here already. */
function decodeSegment(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    throw new ErrorResponse(400, "Cannot read the address: it must be percent-encoded UTF-8");
  }
  if (text.includes("\0")) throw new ErrorResponse(400, "Cannot read the address: it contains NUL");
  return text;
}

/** Finds the handler of a request by method and path. */
export class Router {
  readonly #routes: Route[] = [];

  /** Adds a route: `/api/kernels/:id`, `/api/contents/*`. Earlier ones win. */
  on(method: string, pattern: string, handler: Handler, limit = smallBody): this {
    this.#routes.push({ method, parts: pattern.split("/").slice(1), handler, limit });
    return this;
  }

  async handle(request: Asked, url: URL): Promise<Answer> {
    const segments = url.pathname.split("/").slice(1);
    const methods = new Set<string>();
    for (const route of this.#routes) {
      const params = match(route.parts, segments);
      if (params === undefined) continue;
      const method = request.method === "HEAD" ? "GET" : request.method;
      if (route.method !== method) {
        methods.add(route.method);
        continue;
      }
      return await route.handler({
        request,
        url,
        params,
        body: () => readBody(request, route.limit),
        json: () => readJson(request, route.limit),
      });
    }
    if (methods.size > 0) {
      const allow = [...methods].join(", ");
      throw new ErrorResponse(405, `Cannot ${request.method} ${url.pathname}: it takes ${allow}`);
    }
    throw new ErrorResponse(404, `Cannot find ${url.pathname}`);
  }
}

function match(parts: string[], segments: string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    if (part === "*") {
      params["path"] = segments.slice(i).map(decodeSegment).join("/");
      return params;
    }
    const segment = segments[i];
    if (segment === undefined) {
      return undefined;
    }
    if (part.startsWith(":")) {
      if (segment === "") return undefined;
      params[part.slice(1)] = decodeSegment(segment);
    } else if (part !== segment) return undefined;
  }
  const rest = segments.slice(parts.length);
  return rest.every((s) => s === "") ? params : undefined;
}
