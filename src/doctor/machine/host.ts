import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, freemem, loadavg, totalmem } from "node:os";
import type { Check } from "../check.js";

const area = "host";
export const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** Memory this process may use: the machine's, or what a container leaves of it. */
export function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

function node(): Check {
  const found = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  const old = major < 20 || (major === 20 && minor < 19);
  return old
    ? { id: "node", area, status: "error", found, fix: "install Node 20.19 or newer" }
    : { id: "node", area, status: "ok", found };
}

function threads(): Check[] {
  const count = availableParallelism();
  const asked = process.env["ARPO_LAB_THREADS"];
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const limited = asked === undefined ? "" : `, ARPO_LAB_THREADS is ${asked}`;
  const checks: Check[] = [
    { id: "threads", area, status: "ok", found: `${count} threads, ${model}${limited}` },
  ];
  const load = loadavg()[0]!;
  if (load > count * 1.5) {
    checks.push({
      id: "busy",
      area,
      status: "slow",
      found: `load ${load.toFixed(1)} on ${count} threads: others are computing too`,
      fix: "wait for them, or give this a machine of its own; figures taken now mean little",
    });
  }
  return checks;
}

async function disk(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${gigabytes(free)} free on the disk of ${folder}`;
  return free < 2 * 2 ** 30
    ? { id: "disk", area, status: "warning", found, fix: "checkpoints and caches need room" }
    : { id: "disk", area, status: "ok", found };
}

/** Node, processor, memory and disk. */
export async function hostChecks(folder = process.cwd()): Promise<Check[]> {
  const memory = usableMemory();
  const limit = memory < totalmem() ? ` (limited; the machine has ${gigabytes(totalmem())})` : "";
  return [
    node(),
    ...threads(),
    {
      id: "memory",
      area,
      status: freemem() < 2 ** 30 ? "warning" : "ok",
      found: `${gigabytes(memory)} memory${limit}, ${gigabytes(freemem())} of it unused`,
      ...(freemem() < 2 ** 30 ? { fix: "end what else uses memory" } : {}),
    },
    await disk(folder),
  ];
}
