import { ErrorResponse, toErrorResponse } from "../../../../common/http-server/error-response.js";
import { kernelLogo } from "../../../../kernel/client/kernel-logo.js";
import type { KernelSpec } from "../../../../kernel/client/kernel-spec.js";
import { Contents } from "../../../../kernel/server/contents/contents.js";
import { contentsRoutes } from "../../../../kernel/server/contents/routes.js";
import {
  type Answer,
  type Call,
  type OpenedFile,
  Router,
} from "../../../../kernel/server/http/router.js";
import { ChannelSession } from "../../../../kernel/server/kernels/channels.js";
import { V1 } from "../../../../kernel/server/kernels/codec.js";
import { Kernels } from "../../../../kernel/server/kernels/kernels.js";
import type { Launch } from "../../../../kernel/server/kernels/launched.js";
import type { Line } from "../../../../kernel/server/kernels/socket-line.js";
import { kernelRoutes } from "../../../../kernel/server/kernels/routes.js";
import { sessionRoutes, Sessions } from "../../../../kernel/server/kernels/sessions.js";
import { Pages } from "../../../../kernel/server/lab/pages.js";
import { labRoutes } from "../../../../kernel/server/lab/routes.js";
import { utf8Bytes } from "../../../../common/platform/browser/bytes.js";
import { closeSync, readFileSync, readSync } from "../../../../common/platform/browser/files.js";
import { packagePath } from "../../../../common/platform/browser/modules.js";
import { randomUUID } from "../../../../common/platform/browser/uuid.js";
import { folderArchive, unpackFolder } from "../files/folder-archive.js";
import { home } from "../files/share-data.js";
import type { FromServer, ToServer } from "./messages.js";

/** A socket of the page as a line of the server. */
class TabLine implements Line {
  readonly bufferedAmount = 0;
  #heard: (data: Uint8Array, binary: boolean) => void = () => undefined;
  #gone: (() => void)[] = [];
  readonly #say: (message: FromServer) => void;

  constructor(
    readonly socket: number,
    readonly protocol: string,
    say: (message: FromServer) => void,
  ) {
    this.#say = say;
  }

  send(data: string | Uint8Array): void {
    this.#say({ type: "data", socket: this.socket, data });
  }

  /** Nothing is lost within a page. */
  confirm(received: () => void): void {
    received();
  }

  close(code: number, reason: string): void {
    this.#say({ type: "closed", socket: this.socket, code, reason });
    this.closed();
  }

  terminate(): void {
    this.close(1006, "");
  }

  onMessage(heard: (data: Uint8Array, binary: boolean) => void): void {
    this.#heard = heard;
  }

  onClose(gone: () => void): void {
    this.#gone.push(gone);
  }

  /** The page sent something. */
  hear(data: string | Uint8Array): void {
    if (typeof data === "string") this.#heard(new TextEncoder().encode(data), false);
    else this.#heard(data, true);
  }

  /** The page closed it. */
  closed(): void {
    for (const gone of this.#gone.splice(0)) gone();
  }
}

const languages = { "arpo-lab": "typescript", "arpo-lab-js": "javascript" } as const;
const titles = { typescript: "TypeScript (arpo-lab)", javascript: "JavaScript (arpo-lab)" };

/** The kernels of a tab: this package's own, whatever a notebook asks for. */
function tabKernel(name: string): KernelSpec {
  const language = name === "arpo-lab-js" ? "javascript" : "typescript";
  return {
    name: language === "javascript" ? "arpo-lab-js" : "arpo-lab",
    displayName: titles[language],
    language,
    argv: [],
    env: {},
    interrupt: "message",
    transport: "ipc",
    debugger: false,
  };
}

/** Adds `/api/kernelspecs`. */
function tabSpecRoutes(router: Router): void {
  const kernelspecs = Object.fromEntries(
    Object.entries(languages).map(([name, language]) => [
      name,
      {
        name,
        spec: {
          argv: [],
          env: {},
          display_name: titles[language],
          language,
          interrupt_mode: "message",
          metadata: {},
        },
        resources: {
          "logo-svg": `data:image/svg+xml,${encodeURIComponent(kernelLogo(language))}`,
        },
      },
    ]),
  );
  router.on("GET", "/api/kernelspecs", () => ({ json: { default: "arpo-lab", kernelspecs } }));
}

// The lab's server within a page: the routes that LabServer has, over messages instead of sockets.

type Of<Type extends ToServer["type"]> = Extract<ToServer, { type: Type }>;

const limit = 512 << 20;
const buffer = { bytes: 64 << 20, time: 600_000 };

/** The bytes of an open file, which is closed. */
function wholeOf({ fd, size }: OpenedFile): Uint8Array {
  const bytes = new Uint8Array(size);
  readSync(fd, bytes, 0, size, 0);
  closeSync(fd);
  return bytes;
}

export class TabServer {
  readonly #router = new Router();
  readonly #kernels: Kernels;
  readonly #pages = new Pages();
  readonly #sessions = new Map<string, ChannelSession>();
  readonly #lines = new Map<number, TabLine>();
  readonly #say: (message: FromServer) => void;
  /** Resolves when all that was written outlives this page. */
  readonly #kept: () => Promise<void>;
  /** False where another page of the site has the files. */
  writes = true;

  /** `shipped` are SHA-256 of the site's notebooks. */
  constructor(
    launch: Launch,
    kept: () => Promise<void>,
    say: (message: FromServer) => void,
    shipped: ReadonlySet<string>,
  ) {
    this.#kept = kept;
    this.#say = say;
    this.#kernels = new Kernels(tabKernel, launch);
    const contents = new Contents(home, { trustFile: `${home}/.lab/trusted`, shipped });
    const sessions = new Sessions(this.#kernels, contents.paths);
    kernelRoutes(this.#router, this.#kernels, sessions, contents.paths, (kernel, session) =>
      this.#sessions.get(`${kernel} ${session}`),
    );
    sessionRoutes(this.#router, sessions);
    tabSpecRoutes(this.#router);
    contentsRoutes(this.#router, contents, limit, (path, notebook) =>
      sessions.saved(path, notebook),
    );
    const folder = "/lab/api/folder";
    this.#router.on("GET", folder, async () => ({ bytes: await folderArchive() }));
    const putBack = async ({ body, url }: Call): Promise<Answer> => ({
      json: await unpackFolder(await body(), url.searchParams.has("replace")),
    });
    this.#router.on("PUT", folder, putBack, limit);
    labRoutes(this.#router, {
      page: packagePath("page"),
      data: `${home}/.lab`,
      started: new Date(),
      activity: () => ({ kernels: this.#kernels.list.length }),
      pages: this.#pages,
    });
  }

  async request({ id, method, target, headers, body }: Of<"request">): Promise<void> {
    const url = new URL(target, "http://lab.invalid");
    let answer: Answer;
    try {
      const changes = method !== "GET" && /^\/(api\/contents|lab\/api\/folder)/.test(target);
      if (!this.writes && changes) {
        throw new ErrorResponse(
          403,
          "Cannot save: this lab is open in another tab, which has the files; take over to save here",
        );
      }
      const asked = Object.assign(piecesOf(body), { method, headers });
      answer = await this.#router.handle(asked, url);
      // Saved means that it is there after the page is closed.
      if (changes) await this.#kept();
    } catch (error) {
      const { status, message } = toErrorResponse(error);
      answer = { status, json: { message, reason: null } };
    }
    const { status = 200, json, bytes, file, opened } = answer;
    const made =
      json !== undefined
        ? utf8Bytes(JSON.stringify(json))
        : opened !== undefined
          ? wholeOf(opened)
          : file !== undefined
            ? readFileSync(file)
            : (bytes ?? new Uint8Array());
    const type: Record<string, string> =
      json === undefined ? {} : { "content-type": "application/json" };
    const said = { ...type, ...answer.headers };
    this.#say({ type: "answer", id, status, headers: said, body: new Uint8Array(made) });
  }

  open({ socket, target, protocols }: Of<"open">): void {
    const url = new URL(target, "http://lab.invalid");
    const protocol = protocols.includes(V1) ? V1 : "";
    const line = new TabLine(socket, protocol, this.#say);
    const id = /^\/api\/kernels\/([^/]+)\/channels$/.exec(url.pathname)?.[1];
    try {
      const kernel = id === undefined ? undefined : this.#kernels.get(id);
      this.#lines.set(socket, line);
      line.onClose(() => this.#lines.delete(socket));
      this.#say({ type: "opened", socket, protocol });
      if (kernel === undefined) return this.#pages.add(line);
      const name = url.searchParams.get("session_id") ?? randomUUID();
      const key = `${kernel.id} ${name}`;
      let session = this.#sessions.get(key);
      if (session === undefined) {
        session = new ChannelSession(name, kernel, buffer, () => this.#sessions.delete(key));
        this.#sessions.set(key, session);
      }
      session.attach(line);
    } catch (error) {
      line.close(1011, toErrorResponse(error).message);
    }
  }

  data({ socket, data }: Of<"data">): void {
    this.#lines.get(socket)?.hear(data);
  }

  close({ socket }: Of<"close">): void {
    this.#lines.get(socket)?.closed();
  }
}

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(body);
}
