import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RayApi } from "../../scale/ray/ray-api.js";
import { zipOf } from "../../scale/ray/zip.js";
import type { Check } from "../check.js";

/** What a node says of itself: `sh probe.sh FOLDER NAME`. */
const script = `say() { printf 'probe %s %s\\n' "$1" "$2"; }
say node "$(node --version 2>/dev/null || echo none)"
say arpo-lab "$(arpo-lab --version 2>/dev/null || echo none)"
say verl "$(python3 -c 'import importlib.metadata as m; print(m.version("verl"))' 2>/dev/null || echo none)"
[ -n "$1" ] || exit 0
mine=$1/.arpo-lab-node-$2
if mkdir -p "$1" 2>/dev/null && : 2>/dev/null >"$mine"; then say storage written; rm -f "$mine"; else say storage refused; fi
if [ -e "$1/.arpo-lab-$2" ]; then say shared yes; else say shared no; fi
`;

const pause = (ms: number) => new Promise((later) => setTimeout(later, ms));

/** Lines of a small job on one of the nodes; it runs within the time given or is stopped. */
async function run(api: RayApi, args: readonly string[], limitMs: number): Promise<string> {
  const working = await api.upload(zipOf([{ name: "probe.sh", data: Buffer.from(script) }]));
  const id = `doctor-${randomBytes(4).toString("hex")}`;
  const words = args.map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(" ");
  await api.submit({
    ...{ submission_id: id, entrypoint: `sh probe.sh ${words}` },
    ...{ runtime_env: { working_dir: working }, metadata: { by: "arpo-lab doctor" } },
    entrypoint_num_cpus: 0.1,
  });
  const end = Date.now() + limitMs;
  for (;;) {
    const job = await api.job(id);
    if (job && !["PENDING", "RUNNING"].includes(job.status)) break;
    if (Date.now() > end) {
      await api.stop(id);
      throw new Error(`a small job did not run within ${limitMs / 1000} s; it was stopped`);
    }
    await pause(200);
  }
  return api.log(id);
}

/** What was wanted of the nodes. */
export interface NodeWishes {
  engine: "lab" | "verl";
  /** A folder that all of them share. */
  storage?: string;
  limitMs: number;
}

/** Runs a small job there: which programs a node has, and whether the shared folder is one, seen from both ends. */
export async function probeNodes(api: RayApi, wishes: NodeWishes): Promise<Check[]> {
  const { storage = "", engine, limitMs } = wishes;
  const name = randomBytes(4).toString("hex");
  const mark = join(storage || "/", `.arpo-lab-${name}`);
  const here =
    storage !== "" &&
    (await writeFile(mark, "").then(
      () => true,
      () => false,
    ));
  let text: string;
  try {
    text = await run(api, [storage, name], limitMs);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    const fix = "look at the cluster's dashboard: do its nodes run jobs?";
    return [{ id: "cluster-job", area: "cluster", status: "error", found, fix }];
  } finally {
    if (here) await rm(mark, { force: true });
  }
  const said = new Map<string, string>();
  for (const [, what, value] of text.matchAll(/^probe (\S+) (.*)$/gm)) said.set(what!, value!);
  const checks = [versions(said, engine)];
  return storage === "" ? checks : [...checks, shared(said, storage, here)];
}

function versions(said: ReadonlyMap<string, string>, engine: "lab" | "verl"): Check {
  const of = (what: string) => said.get(what) ?? "none";
  const found = `a node has Node.js ${of("node")}, arpo-lab ${of("arpo-lab")}, verl ${of("verl")}`;
  const about = { id: "cluster-versions", area: "cluster", found } as const;
  if (engine === "verl") {
    if (of("verl") === "0.9.1") return { ...about, status: "ok" };
    return { ...about, status: "error", fix: 'pip install "verl[vllm]==0.9.1" on every node' };
  }
  const major = Number(/^v(\d+)/.exec(of("node"))?.[1] ?? 0);
  if (major >= 20 && of("arpo-lab") !== "none") return { ...about, status: "ok" };
  const fix =
    major >= 20
      ? "submit with --package PATH or a .tgz, or install arpo-lab in the image"
      : "submit with --node wheel, or an image with Node.js 20.19 or newer";
  return { ...about, status: "warning", fix };
}

function shared(said: ReadonlyMap<string, string>, storage: string, here: boolean): Check {
  const about = { id: "cluster-storage", area: "cluster" } as const;
  if (said.get("storage") !== "written") {
    const found = `a node cannot write to ${storage}`;
    const fix = "mount it there, or let the user of Ray's processes write to it";
    return { ...about, status: "error", found, fix };
  }
  if (said.get("shared") === "yes") {
    return {
      ...about,
      status: "ok",
      found: `${storage} is one folder, written from here and there`,
    };
  }
  const found = here
    ? `${storage} is there and here, but not the same folder`
    : `a node writes to ${storage}; this machine does not`;
  const fix = here
    ? "mount the nodes' folder here, or rely on jobs fetch without it"
    : "figures still come over the log; jobs fetch of a run on verl wants the folder mounted here";
  return { ...about, status: "warning", found, fix };
}
