// The thread of the contents API: reads and writes files, and turns them into JSON and back. Kernels'
// messages pass through the main thread, and what is done here for a large file does not hold them up.
import { Readable } from "node:stream";
import { parentPort, workerData } from "node:worker_threads";
import { toErrorResponse } from "../../../common/http-server/error-response.js";
import { Router } from "../http/router.js";
import type { ContentsData, FromContents, ToContents } from "./client.js";
import { Contents } from "./contents.js";
import { outlineOf } from "./outline.js";
import { shippedNotebooks } from "./shipped.js";
import { contentsRoutes } from "./routes.js";
import { tooLarge } from "./read-whole.js";

const { folder, trustFile, limit, unlisted } = workerData as ContentsData;
const port = parentPort!;
const router = new Router();
const say = (message: FromContents, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(message, transfer);
const contents = new Contents(folder, { trustFile, shipped: shippedNotebooks(), unlisted });
contentsRoutes(router, contents, limit, (path, notebook) =>
  say({ saved: { path, notebook: outlineOf(notebook) } }),
);

/** What would be longer as JSON than a string may be is refused in words. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooLarge("this file", { cause: error });
  }
}

async function answer({ id, method, target, body }: ToContents): Promise<void> {
  const asked = Object.assign(Readable.from([body]), { method, headers: {} });
  try {
    const { json, ...given } = await router.handle(asked, new URL(target, "http://lab.invalid"));
    if (json === undefined) say({ id, answer: given });
    else {
      const bytes = new TextEncoder().encode(jsonOf(json));
      const headers = { ...given.headers, "content-type": "application/json" };
      say({ id, answer: { ...given, headers, bytes } }, [bytes.buffer]);
    }
  } catch (error) {
    const { status, message } = toErrorResponse(error);
    say({ id, refused: { status, message } });
  }
}

port.on("message", (asked: ToContents) => void answer(asked));
