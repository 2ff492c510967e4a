import { environment } from "../../../../common/platform/browser/process.js";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "../../../../common/platform/browser/files.js";
import { dirname } from "../../../../common/platform/browser/path.js";
import { mountSite, type SiteFiles } from "../../../../common/platform/browser/site/mount.js";
import { tree } from "../../../../common/platform/browser/tree/own-tree.js";
import { PrivateFiles } from "../files/private-files.js";
import { home, shareData } from "../files/share-data.js";
import { SharedFiles } from "../files/shared-files.js";
import { launchIn } from "../kernel/launch.js";
import type { KernelParts } from "../kernel/thread-data.js";
import type { FromServer, ToServer } from "./messages.js";
import { TabServer } from "./tab-server.js";

// Notebooks that came with the site: a reader's own copy of one is kept, whatever becomes of it.

const record = `${home}/.lab/lessons.json`;

type Versions = Record<string, string>;

/** Puts the site's notebooks into the reader's folder, as they are fetched when one is opened. */
function layOut(shipped: Versions): void {
  for (const name of Object.keys(shipped)) {
    tree.makeFolder(dirname(`${home}/${name}`), true);
    tree.put(`${home}/${name}`, tree.get(`/lab/${name}`, "open"), "open");
  }
}

const beside = (name: string): string => name.replace(/(\.\w+)?$/, " (new)$1");

/**
 * After a reader's files are back: of each lesson that the reader changed and that has changed since, the
 * new one is laid beside it. Gives their names; what was known before is remembered for the next time.
 */
function newerLessons(shipped: Versions, restored: readonly string[]): string[] {
  const changed = new Set(restored.map((path) => path.slice(home.length + 1)));
  const known: Versions = existsSync(record)
    ? (JSON.parse(readFileSync(record, "utf8")) as Versions)
    : {};
  const newer = Object.keys(shipped).filter(
    (name) => changed.has(name) && known[name] !== undefined && known[name] !== shipped[name],
  );
  for (const name of newer) {
    tree.put(`${home}/${beside(name)}`, tree.get(`/lab/${name}`, "open"), "open");
  }
  // Of a lesson that nobody changed the next version simply takes its place.
  const now = Object.fromEntries(
    Object.keys(shipped).map((name) => [
      name,
      changed.has(name) ? (known[name] ?? shipped[name]!) : shipped[name]!,
    ]),
  );
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify(now));
  return newer;
}

// The thread of the lab's server in a page.

interface Site extends SiteFiles {
  lessons: Record<string, string>;
}

const say = (message: FromServer, ports: MessagePort[] = []): void =>
  postMessage(message, { transfer: ports });

let kernels = 0;
/** Asks the page for what only it can have for a kernel. */
function inPage(parts: KernelParts, ports: MessagePort[]): () => void {
  const kernel = ++kernels;
  say({ type: "kernel", kernel, parts }, ports);
  return () => say({ type: "kernel", kernel });
}

async function start(base: string, given: Record<string, string>) {
  const answer = await fetch(new URL("site.json", base), { cache: "no-cache" });
  if (!answer.ok)
    throw new Error(`Cannot open the lab: site.json must be there, got ${answer.status}`);
  const site = (await answer.json()) as Site;
  Object.assign(environment, given);
  mountSite(base, site);
  shareData();
  layOut(site.lessons);
  const kept = new PrivateFiles(new URL(base).pathname);
  const restored = await kept.restore();
  const files = new SharedFiles((change) => kept.keep(change));
  const keep = (): Promise<void> => {
    files.flush();
    return kept.kept();
  };
  const server = new TabServer(
    launchIn({ base, site, environment: given }, files, inPage),
    keep,
    say,
    new Set(Object.values(site.lessons)),
  );
  const newer = newerLessons(site.lessons, restored);
  const keeps = await kept.isThere();
  const become = (writes: boolean): void => {
    server.writes = kept.writes = writes;
    say({ type: "state", writes, keeps, newer });
  };
  const name = `arpo-lab ${base}`;
  /** Has the files until the page is closed, or another takes them. */
  const hold = async (options: LockOptions): Promise<void> => {
    try {
      await navigator.locks.request(name, options, async (lock) => {
        become(lock !== null);
        if (lock !== null) await new Promise(() => undefined);
      });
    } catch {
      become(false); // taken over
    }
  };
  void hold({ ifAvailable: true });
  return { server, takeOver: () => void hold({ steal: true }) };
}

let started: ReturnType<typeof start> | undefined;
addEventListener("message", ({ data }: MessageEvent<ToServer>) => {
  if (data.type === "start") {
    started = start(data.base, data.environment);
    return;
  }
  void started?.then(({ server, takeOver }) => {
    if (data.type === "request") void server.request(data);
    else if (data.type === "open") server.open(data);
    else if (data.type === "data") server.data(data);
    else if (data.type === "close") server.close(data);
    else takeOver();
  });
});
