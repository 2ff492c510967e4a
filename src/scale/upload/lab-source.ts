import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/** How the package gets to the nodes. */
export type LabSource = { kind: "image" } | { kind: "path" | "tarball"; path: string };

/** Reads `image`, a folder of the nodes, or a `.tgz` of this machine. */
export function labSource(text: string): LabSource {
  if (text === "image") return { kind: "image" };
  if (text.endsWith(".tgz")) {
    if (existsSync(text)) return { kind: "tarball", path: resolve(text) };
    throw new RangeError(
      `Cannot make the job: package must be a file that is there (npm pack makes it), got ${text}`,
    );
  }
  if (isAbsolute(text)) return { kind: "path", path: text };
  throw new RangeError(
    `Cannot make the job: package must be "image", an absolute path on the nodes, or a .tgz of this machine, got ${text}`,
  );
}
