// Adds the headers that let threads share memory, answers addresses that lead into the lab, and keeps what
// was fetched, so that the lab opens without a network.
import { isHashed, keptFiles } from "./keep.js";

interface Client {
  postMessage(message: unknown, transfer: Transferable[]): void;
}
interface Scope extends EventTarget {
  registration: { scope: string };
  clients: { claim(): Promise<void>; matchAll(options: object): Promise<Client[]> };
  skipWaiting(): Promise<void>;
}
interface Fetching extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}

const scope = globalThis as unknown as Scope;

function isolated(answer: Response): Response {
  if (answer.status === 0 || answer.type === "opaqueredirect") return answer;
  const headers = new Headers(answer.headers);
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-embedder-policy", "require-corp");
  headers.set("cross-origin-resource-policy", "same-origin");
  const { status, statusText } = answer;
  const body = [204, 304].includes(status) ? null : answer.body;
  return new Response(body, { status, statusText, headers });
}

/** From the network, and from what was kept where there is none, or where that is known to be the same. */
async function fetched(request: Request): Promise<Response> {
  const cache = await caches.open(keptFiles);
  const known = isHashed(request.url) ? await cache.match(request) : undefined;
  if (known !== undefined) return isolated(known);
  try {
    const answer = await fetch(request, { cache: "no-cache" });
    if (answer.ok && request.method === "GET") await cache.put(request, answer.clone());
    return isolated(answer);
  } catch (error) {
    const found = await cache.match(request, { ignoreSearch: request.mode === "navigate" });
    if (found === undefined) throw error;
    return isolated(found);
  }
}

/** A raw file of the reader's, which the page's server has. */
async function readersFile(target: string): Promise<Response> {
  const [client] = await scope.clients.matchAll({ type: "window" });
  if (client === undefined) return new Response("The lab is not open", { status: 404 });
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise<{ status: number; headers: [string, string][]; body: ArrayBuffer }>(
    (done) => {
      port1.onmessage = ({ data }) => done(data as Awaited<typeof answer>);
    },
  );
  client.postMessage({ target }, [port2]);
  const { status, headers, body } = await answer;
  return isolated(new Response(body, { status, headers }));
}

scope.addEventListener("install", () => void scope.skipWaiting());
scope.addEventListener("activate", (event) => (event as Fetching).waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  const { request } = event as Fetching;
  const url = new URL(request.url);
  if (!request.url.startsWith(scope.registration.scope) || request.method !== "GET") return;
  const path = request.url.slice(scope.registration.scope.length);
  const answer = (made: Promise<Response>): void => (event as Fetching).respondWith(made);
  if (request.mode === "navigate" && /^(lab|doc)(\/|$)/.test(path)) {
    const to = new URL("lab.html", scope.registration.scope);
    to.searchParams.set("open", decodeURIComponent(path.replace(/[?#].*$/, "")));
    to.hash = url.hash;
    return answer(Promise.resolve(Response.redirect(to.href)));
  }
  if (path.startsWith("files/")) return answer(readersFile(`/${path}`));
  answer(fetched(request));
});
