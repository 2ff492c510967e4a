// Runs in the page before JupyterLab: starts the server's thread and the service worker, and lets the
// page's scripts find their server in it.
import { Bar, stateText } from "./bar.js";
import { labConfig } from "./config.js";
import { PythonFrame } from "./python-frame.js";
import { replaceFetch, ServerThread } from "./tab-fetch.js";
import { replaceWebSocket } from "./tab-socket.js";

/** What the site's builder knows. */
export interface SiteSettings {
  version: string;
  /** The scripts that the page begins with. */
  pieces: string[];
  /** What is opened where nothing is asked for. */
  first: string;
  /** The page of it that needs no lab, for narrow screens. */
  reading?: string;
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
    const late = new Promise((done) => setTimeout(done, 3000));
    await Promise.race([navigator.serviceWorker.ready, late]);
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

function add(name: string, properties: Record<string, string>, text = ""): void {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  element.textContent = text;
  document.head.append(element);
}

/** When the page has had nothing to do for a while, and where readers do not save data. */
function whenIdle(call: () => void): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData === true) return;
  const idle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 0));
  setTimeout(() => idle(call), 5000);
}

export async function start({ version, pieces, first, reading }: SiteSettings): Promise<void> {
  const here = new URL(location.href);
  const base = new URL(".", here).href;
  const narrow = matchMedia("(max-width: 700px)").matches;
  if (reading !== undefined && narrow && !here.searchParams.has("open")) {
    location.replace(new URL(reading, base));
    return;
  }
  await isolate(base);
  const open = here.searchParams.get("open") ?? `lab/tree/${first}`;
  history.replaceState(undefined, "", base + open + here.hash);

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
  server.onPython = ({ kernel, port }) => {
    if (port === undefined) return python.remove(kernel);
    python.add(kernel, port);
    whenIdle(() => void python.fetchAhead());
  };
  server.say({ type: "start", base, environment: {} });
  replaceFetch(server);
  replaceWebSocket(server);
  answerServiceWorker(server);
  bar.say("The lab is loading …");

  const fixed = (name: string) => new URL(`lab-static/${name}`, base).href;
  const config = JSON.stringify(labConfig(base, version, open));
  add("script", { id: "jupyter-config-data", type: "application/json" }, config);
  add("link", { rel: "icon", href: fixed("favicon.svg"), type: "image/svg+xml" });
  for (const name of pieces) add("link", { rel: "modulepreload", href: fixed(name) });
  add("link", { rel: "stylesheet", href: fixed("main.css") });
  add("script", { type: "module", src: fixed("main.js") });
}
