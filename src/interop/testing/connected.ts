import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { inflateRawSync } from "node:zlib";
import { cluster, type Cluster } from "../job/cluster.js";
import { FakeHead } from "./fake-head.js";

/** A folder of a test, and where its jobs are kept. */
export interface Place {
  folder: string;
  jobs: string;
}

async function place(t: TestContext): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-scale-"));
  t.after(() => rm(folder, { recursive: true }));
  return { folder, jobs: join(folder, "jobs") };
}

/** A head and a cluster that reaches it. */
export async function connected(
  t: TestContext,
): Promise<Place & { head: FakeHead; there: Cluster }> {
  const at = await place(t);
  const head = await FakeHead.start(t);
  return { ...at, head, there: await cluster(head.address, { jobs: at.jobs }) };
}

/** Names and contents of a zip. */
export function unzip(zip: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const [size, length] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26)];
    const name = zip.subarray(at + 30, at + 30 + length).toString();
    const data = zip.subarray(at + 30 + length, at + 30 + length + size);
    files.set(name, inflateRawSync(data).toString());
    at += 30 + length + size;
  }
  return files;
}
