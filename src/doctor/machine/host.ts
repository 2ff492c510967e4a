import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, freemem, loadavg, totalmem } from "node:os";
import { type Check, findings } from "../check.js";

const { ok, slow, warning, error } = findings("host");
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
  return old ? error("node", found, "install Node 20.19 or newer") : ok("node", found);
}

function threads(): Check[] {
  const count = availableParallelism();
  const asked = process.env["ARPO_LAB_THREADS"];
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const limited = asked === undefined ? "" : `, ARPO_LAB_THREADS is ${asked}`;
  const checks = [ok("threads", `${count} threads, ${model}${limited}`)];
  const load = loadavg()[0]!;
  if (load > count * 1.5) {
    const found = `load ${load.toFixed(1)} on ${count} threads: others are computing too`;
    const fix = "wait for them, or give this a machine of its own; figures taken now mean little";
    checks.push(slow("busy", found, fix));
  }
  return checks;
}

async function disk(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${gigabytes(free)} free on the disk of ${folder}`;
  const fix = "checkpoints and caches need room";
  return free < 2 * 2 ** 30 ? warning("disk", found, fix) : ok("disk", found);
}

/** Node, processor, memory and disk. */
export async function hostChecks(folder = process.cwd()): Promise<Check[]> {
  const memory = usableMemory();
  const limit = memory < totalmem() ? ` (limited; the machine has ${gigabytes(totalmem())})` : "";
  const free = freemem();
  const found = `${gigabytes(memory)} memory${limit}, ${gigabytes(free)} of it unused`;
  const left =
    free < 2 ** 30 ? warning("memory", found, "end what else uses memory") : ok("memory", found);
  return [node(), ...threads(), left, await disk(folder)];
}
