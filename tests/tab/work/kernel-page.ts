// A page's thread with one kernel in it, for tests: what a front end would send, and what comes back.
import { launchIn } from "../../../apps/site/tab/kernel/launch.js";
import { SharedFiles } from "../../../apps/site/tab/files/shared-files.js";
import { shareData } from "../../../apps/site/tab/files/share-data.js";
import { mountSite, type SiteFiles } from "../../../common/platform/browser/site/mount.js";
import { mkdirSync } from "../../../common/platform/browser/files.js";
import { utf8Bytes, utf8Text } from "../../../common/platform/browser/bytes.js";
import type { Frames } from "../../../kernel/server/kernels/codec.js";
import type { Launched } from "../../../kernel/server/kernels/launched.js";

type Json = Record<string, unknown>;
interface Asked {
  id: string;
  channel: "shell" | "control" | "stdin";
  type: string;
  content: Json;
}

let started: (kernel: Launched) => void = () => undefined;
const kernel = new Promise<Launched>((done) => (started = done));
const bytes = (value: unknown) => utf8Bytes(JSON.stringify(value));
const json = (part: Uint8Array) => JSON.parse(utf8Text(part)) as Json;

function tell({ channel, header, parent, content }: Frames): void {
  const { msg_type: type } = json(header);
  postMessage({ channel, type, parent: json(parent)["msg_id"], content: json(content) });
}

addEventListener("message", ({ data }: MessageEvent<Asked | { base: string; threads: string }>) => {
  void (async () => {
    if ("base" in data) {
      const answer = await fetch(new URL("site.json", data.base));
      const site = (await answer.json()) as SiteFiles;
      mountSite(data.base, site);
      shareData();
      mkdirSync("/home/notebooks", { recursive: true });
      const environment = { ARPO_LAB_THREADS: data.threads };
      const launch = launchIn(
        { base: data.base, site, environment },
        new SharedFiles(),
        (parts, ports) => {
          postMessage({ parts }, { transfer: ports });
          return () => undefined;
        },
      );
      const spec = {
        name: "arpo-lab",
        displayName: "TypeScript",
        language: "typescript",
        argv: [],
        env: {},
        interrupt: "message" as const,
        transport: "ipc" as const,
        debugger: false,
      };
      started(await launch(spec, "/home/notebooks", tell));
      return;
    }
    const { id, channel, type, content } = data;
    const header = { msg_id: id, msg_type: type, session: "page", username: "", version: "5.5" };
    await (
      await kernel
    ).send({
      channel,
      header: bytes({ ...header, date: new Date().toISOString() }),
      parent: bytes({}),
      metadata: bytes({}),
      content: bytes(content),
      buffers: [],
    });
  })();
});
