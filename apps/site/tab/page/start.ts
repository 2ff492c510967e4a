import { hasRelaxedSimd } from "../../../../src/tensor/engine/wasm-builds.js";
import type { KernelParts } from "../kernel/thread-data.js";
import { Bar, stateText } from "./bar.js";
import { keepAll } from "./keep.js";
import { PythonFrame } from "./python-frame.js";
import { sharedNotebook, shareLink } from "./share.js";
import { replaceFetch, ServerThread } from "./tab-fetch.js";
import { replaceWebSocket } from "./tab-socket.js";

const kept = "arpo-lab relaxed";

/** Whether cells compute faster with other last bits: a reader's choice, where the browser can; kept for later visits. */
const arithmetic = {
  possible: hasRelaxedSimd(),
  relaxed: hasRelaxedSimd() && localStorage.getItem(kept) !== null,
  choose: (relaxed: boolean): void =>
    relaxed ? localStorage.setItem(kept, "yes") : localStorage.removeItem(kept),
};

/** What JupyterLab reads of its page, for a lab whose addresses begin with `base`. */
function labConfig(base: string, version: string, open: string): Record<string, unknown> {
  const path = new URL(base).pathname;
  const urls = {
    app: "lab",
    settings: "lab/api/settings",
    workspacesApi: "lab/api/workspaces",
    translationsApi: "lab/api/translations",
    themes: "lab/api/themes",
    tree: "lab/tree",
  };
  const named = Object.entries(urls).flatMap(([name, url]) => [
    [`${name}Url`, `/${url}`],
    [`full${name[0]!.toUpperCase()}${name.slice(1)}Url`, path + url],
  ]);
  return {
    ...Object.fromEntries(named),
    baseUrl: path,
    wsUrl: "",
    appName: "arpo-lab",
    appNamespace: "lab",
    appVersion: version,
    notebookVersion: "[2, 17, 0]",
    workspacesUrl: "/lab/workspaces",
    fullStaticUrl: `${path}lab-static`,
    fullListingsUrl: "",
    fullLicensesUrl: "",
    cacheFiles: false,
    devMode: false,
    mode: open.startsWith("doc") ? "single-document" : "multiple-document",
    federated_extensions: [],
    terminalsAvailable: false,
    ignorePlugins: [],
    serverRoot: "/home",
    preferredPath: "/",
    rootUri: "",
    quitButton: false,
    store_id: 0,
    workspace: /^lab\/workspaces\/([\w.-]+)/.exec(open)?.[1] ?? "default",
    treePath: /(?:^|\/)tree\/(.+)$/.exec(open)?.[1] ?? "",
  };
}

/**
 * What a page does for its kernels: it has their threads and their interpreters of Python. Threads too, since
 * in Firefox (153) one that starts others stands still now and then, where a page of the lab was just left.
 */
export class PageKernels {
  readonly #scripts: string;
  readonly #python: PythonFrame;
  readonly #threads = new Map<number, Worker[]>();

  /** Scripts of threads lie below `scripts`. */
  constructor(scripts: string, python: PythonFrame) {
    this.#scripts = scripts;
    this.#python = python;
  }

  add(kernel: number, { threads, python, more, failed }: KernelParts): void {
    const started: Worker[] = [];
    const start = (name: string, data: unknown, ports: MessagePort[] = []): void => {
      const worker = new Worker(new URL(name, this.#scripts), { type: "module", name });
      worker.addEventListener("error", (event) => {
        // One that could not be loaded says nothing else; what a cell throws does not come here.
        if (!event.filename) failed.postMessage(name);
      });
      worker.postMessage(data, ports);
      started.push(worker);
    };
    for (const { name, data, ports } of threads) start(name, data, ports);
    more.onmessage = ({ data }: MessageEvent<{ name: string; data: unknown }>) =>
      start(data.name, data.data);
    this.#threads.set(kernel, started);
    this.#python.add(kernel, python);
  }

  remove(kernel: number): void {
    for (const worker of this.#threads.get(kernel) ?? []) worker.terminate();
    this.#threads.delete(kernel);
    this.#python.remove(kernel);
  }
}

// Runs in the page before JupyterLab: starts the server's thread and the service worker, and lets the
// page's scripts find their server in it.

/** What the site's builder knows. */
export interface SiteSettings {
  version: string;
  /** The scripts that the page begins with. */
  pieces: string[];
  /** What is opened where nothing is asked for. */
  first: string;
  /** The first cells of the site's notebooks, by path. */
  lessons: Record<string, string>;
}

/**
 * Headers that let threads share memory, on hosts that send none, and the page offline. The first visit is
 * loaded once more when it is there; without it everything works with one thread.
 */
async function isolate(base: string): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const tried = "arpo-lab isolated";
  try {
    await navigator.serviceWorker.register(new URL("service-worker.js", base), { scope: base });
    if (crossOriginIsolated || sessionStorage.getItem(tried) !== null) return;
    const late = new Promise<undefined>((done) => setTimeout(done, 3000));
    if ((await Promise.race([navigator.serviceWorker.ready, late])) === undefined) return;
    sessionStorage.setItem(tried, "yes");
    location.reload();
    await new Promise(() => undefined);
  } catch {
    return; // a private window, or a page without https
  }
}

/** Raw files for pictures and downloads, which the service worker asks for. */
function answerServiceWorker(server: ServerThread): void {
  navigator.serviceWorker?.addEventListener("message", ({ data, ports }: MessageEvent) => {
    const { target } = data as { target: string };
    void server.fetch(target, "GET", new Headers(), new ArrayBuffer()).then(async (answer) =>
      ports[0]?.postMessage({
        status: answer.status,
        headers: [...answer.headers],
        body: await answer.arrayBuffer(),
      }),
    );
  });
}

/** Downloads of the reader's files come from here: with a service worker they break off, without one there are none. */
function download(server: ServerThread): void {
  const save = async (link: HTMLAnchorElement): Promise<void> => {
    const answer = await fetch(link.href);
    if (!answer.ok) return alert(((await answer.json()) as { message: string }).message);
    const made = document.createElement("a");
    made.href = URL.createObjectURL(await answer.blob());
    made.download =
      link.download || decodeURIComponent(new URL(link.href).pathname.replace(/^.*\//, ""));
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
  };
  const heard = (event: Event): void => {
    const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
    if (!(link instanceof HTMLAnchorElement) || server.targetOf(link.href) === undefined) return;
    event.preventDefault();
    void save(link);
  };
  document.addEventListener("click", heard, { capture: true });
}

function add(name: string, properties: Record<string, string>, text = ""): void {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  element.textContent = text;
  document.head.append(element);
}

/** Puts a notebook of a link among the reader's, beside what is there; gives its path. */
async function keepShared({ name, notebook }: { name: string; notebook: object }): Promise<string> {
  const send = (path: string, method: string, body?: object) =>
    fetch(`api/contents/${path}`, { method, body: body && JSON.stringify(body) });
  await send("shared", "PUT", { type: "directory" });
  const [, stem, end] = /^(.*?)(\.ipynb)?$/.exec(name)!;
  for (let count = 1; ; count++) {
    const path = `shared/${stem}${count > 1 ? ` ${count}` : ""}${end ?? ".ipynb"}`;
    const before = await send(encodeURI(path), "GET");
    if (before.ok) {
      const { content } = (await before.json()) as { content: { cells: { source: string }[] } };
      const sources = (of: { cells: { source: string }[] }) => of.cells.map(({ source }) => source);
      const given = notebook as { cells: { source: string }[] };
      if (JSON.stringify(sources(content)) !== JSON.stringify(sources(given))) continue;
      return path;
    }
    await send(encodeURI(path), "PUT", { type: "notebook", format: "json", content: notebook });
    return path;
  }
}

/** When no kernel has said anything for 20 seconds, and where readers do not save data. */
function whenIdle(server: ServerThread, call: () => Promise<void>): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData === true) return;
  const idle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 0));
  const inVain = (): void => undefined; // whoever needs something is told; the next visit tries again
  const look = (): void => {
    const left = 20_000 - (performance.now() - server.heard);
    if (left > 0) setTimeout(look, left);
    else idle(() => void call().catch(inVain));
  };
  look();
}

export async function start(settings: SiteSettings): Promise<void> {
  const { version, pieces, first, lessons } = settings;
  const here = new URL(location.href);
  const base = new URL("./", here).href;
  await isolate(base);
  const shared = await sharedNotebook(here.hash).catch((error: unknown) => String(error));
  let open = here.searchParams.get("open") ?? `lab/tree/${first}`;

  const worker = new Worker(new URL("scripts/server.js", base), { type: "module", name: "server" });
  const server = new ServerThread(worker, base);
  const bar = new Bar();
  server.onState = (state) => {
    const text = stateText(state);
    if (text === undefined) bar.clear();
    else if (state.writes) bar.say(text, { OK: () => bar.clear() });
    else bar.say(text, { "Take over": () => server.say({ type: "take-over" }) });
  };
  const python = new PythonFrame(base);
  const kernels = new PageKernels(`${base}scripts/`, python);
  server.onKernel = ({ kernel, parts }) => {
    if (parts === undefined) return kernels.remove(kernel);
    kernels.add(kernel, parts);
    whenIdle(server, async () => {
      await python.fetchAhead();
      if (navigator.serviceWorker?.controller) await keepAll(base);
    });
  };
  const environment: Record<string, string> = {};
  if (arithmetic.relaxed) environment["ARPO_LAB_BACKEND"] = "wasm-relaxed";
  server.say({ type: "start", base, environment });
  replaceFetch(server);
  replaceWebSocket(server);
  answerServiceWorker(server);
  download(server);
  bar.say("The lab is loading …");
  if (typeof shared === "string") alert(shared.replace(/^\w*Error: /, ""));
  else if (shared !== undefined) open = `lab/tree/${await keepShared(shared)}`;
  history.replaceState(
    undefined,
    "",
    base + open + (typeof shared === "object" ? "" : here.hash.replace(/^#notebook=.*/s, "")),
  );
  Object.assign(window, {
    arpoLabSite: {
      arithmetic,
      lessons,
      shareLink: (path: string, notebook: Parameters<typeof shareLink>[2]) =>
        shareLink(base, path, notebook),
    },
  });

  const fixed = (name: string) => new URL(`lab-static/${name}`, base).href;
  const config = JSON.stringify(labConfig(base, version, open));
  add("script", { id: "jupyter-config-data", type: "application/json" }, config);
  for (const name of pieces) add("link", { rel: "modulepreload", href: fixed(name) });
  add("link", { rel: "stylesheet", href: fixed("main.css") });
  add("script", { type: "module", src: fixed("main.js") });
}
