// What a worker of Python's frame could try in JavaScript, if Python ever got there: each way, and how it ended.
type Way = (url: string) => unknown;

/** An object's good event, or an error. */
const event = (object: EventTarget, good: readonly string[]) =>
  new Promise((resolve, reject) => {
    for (const name of good) object.addEventListener(name, resolve);
    object.addEventListener("error", () => reject(new Error("an error event")));
  });

interface Elsewhere {
  caches: CacheStorage;
  cookieStore: { get(name: string): Promise<unknown> };
  clients: { matchAll(): Promise<unknown> };
  RTCPeerConnection: new () => unknown;
  SharedWorker: new (url: string) => unknown;
  importScripts(url: string): void;
  parent: { document: unknown };
  WebTransport: new (url: string) => { ready: Promise<void> };
  Notification: new (text: string) => EventTarget;
}
const here = globalThis as unknown as Elsewhere;
// Not written where it is imported: a bundler would put it in.
const load = (address: string): Promise<unknown> => import(address);

const ways: Record<string, Way> = {
  fetch: (url) => fetch(url),
  "a blind fetch": (url) => fetch(url, { mode: "no-cors", method: "POST", body: "x" }),
  XMLHttpRequest: (url) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.send();
    return event(request, ["load"]);
  },
  WebSocket: (url) => event(new WebSocket(url.replace("http", "ws")), ["open"]),
  EventSource: (url) => event(new EventSource(url), ["open", "message"]),
  WebTransport: (url) => new here.WebTransport(url.replace("http", "https")).ready,
  importScripts: (url) => here.importScripts(url),
  import: (url) => load(url),
  "import of data": () => load(["data:text/javascript", ""].join(",")),
  eval: () => (0, eval)("1"),
  Function: () => new Function("return 1")(),
  "a worker from elsewhere": (url) => event(new Worker(url), ["message"]),
  "a worker of a worker": (url) => {
    const script = `fetch(${JSON.stringify(url)}).then(() => postMessage(1))`;
    return event(new Worker(URL.createObjectURL(new Blob([script]))), ["message"]);
  },
  SharedWorker: (url) => new here.SharedWorker(url),
  "a service worker": (url) => navigator.serviceWorker.register(url),
  clients: () => here.clients.matchAll(),
  indexedDB: () => event(indexedDB.open("x"), ["success"]),
  caches: () => here.caches.open("x"),
  "private files": () => navigator.storage.getDirectory(),
  locks: () => navigator.locks.request("x", () => 1),
  cookies: () => here.cookieStore.get("x"),
  broadcasts: () => {
    const channel = new BroadcastChannel("page");
    channel.postMessage("secret");
    return event(channel, ["message"]);
  },
  "a peer connection": () => new here.RTCPeerConnection(),
  location: (url) => {
    location.href = url;
    throw new Error("assigned, and nothing happens in a worker");
  },
  "the page": () => here.parent.document,
  fonts: (url) => new FontFace("x", `url(${url})`).load(),
  notifications: () => event(new here.Notification("x"), ["show"]),
};

addEventListener(
  "message",
  ({ ports: [port] }) => {
    void (async () => {
      const { data: url } = await new Promise<MessageEvent<string>>(
        (heard) => (port!.onmessage = heard),
      );
      const reached: string[] = [];
      const patience = () => new Promise((_, reject) => setTimeout(() => reject(new Error()), 800));
      for (const [name, way] of Object.entries(ways)) {
        try {
          await Promise.race([way(url), patience()]);
          reached.push(name);
        } catch {
          // That is the point.
        }
      }
      port!.postMessage({ origin: self.origin, tried: Object.keys(ways).length, reached });
    })();
  },
  { once: true },
);
postMessage("here");
