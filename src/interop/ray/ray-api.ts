import { createHash } from "node:crypto";
import { z } from "#zod";
import { mostBytes, type RayConnection, RayError } from "./ray-connection.js";

const statuses = ["PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"] as const;

const details = z.looseObject({
  submission_id: z.string().nullish(),
  status: z.enum(statuses),
  message: z.string().nullish(),
  error_type: z.string().nullish(),
  start_time: z.number().nullish(),
  end_time: z.number().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  driver_node_id: z.string().nullish(),
  driver_exit_code: z.number().nullish(),
});
/** A job as the head describes it. */
type RayJob = z.infer<typeof details>;

const versions = z.looseObject({ ray_version: z.string(), session_name: z.string().nullish() });
const listing = z.looseObject({
  data: z.looseObject({ result: z.record(z.string(), z.array(z.string())) }),
});
const nodes = z.looseObject({
  data: z.looseObject({
    result: z.looseObject({
      result: z.array(
        z.looseObject({
          node_id: z.string(),
          state: z.string(),
          is_head_node: z.boolean().nullish(),
          resources_total: z.record(z.string(), z.number()).nullish(),
        }),
      ),
    }),
  }),
});

/** What a job is started with. */
interface RaySubmission {
  submission_id: string;
  entrypoint: string;
  runtime_env: Record<string, unknown>;
  metadata: Record<string, string>;
  entrypoint_num_cpus?: number;
  entrypoint_num_gpus?: number;
}

/** A node of the cluster. */
export interface RayNode {
  id: string;
  alive: boolean;
  head: boolean;
  cpus: number;
  gpus: number;
  /** What cards they are, as Ray names them: H100, A100-80G. */
  accelerators: string[];
}

/** Ray's REST interface, as far as jobs need it. Every answer is checked. */
export class RayApi {
  constructor(readonly connection: RayConnection) {}

  async version(): Promise<{ ray: string; session: string | undefined }> {
    const said = await this.#ask(versions, "reach the cluster", "GET", "/api/version");
    return { ray: said.ray_version, session: said.session_name ?? undefined };
  }

  async nodes(): Promise<RayNode[]> {
    const path = "/api/v0/nodes?detail=1&limit=1000";
    const { data } = await this.#ask(nodes, "list the cluster's nodes", "GET", path);
    return data.result.result.map((node) => ({
      id: node.node_id,
      alive: node.state === "ALIVE",
      head: node.is_head_node === true,
      cpus: node.resources_total?.["CPU"] ?? 0,
      gpus: node.resources_total?.["GPU"] ?? 0,
      accelerators: Object.keys(node.resources_total ?? {}).flatMap(
        (name) => /^accelerator_type:(.+)$/.exec(name)?.[1] ?? [],
      ),
    }));
  }

  /** Sends a package unless the cluster has it; gives its address. */
  async upload(zip: Uint8Array): Promise<string> {
    const doing = "send a package";
    if (zip.length > mostBytes) {
      throw new RangeError(
        `Cannot send a package: it must have at most ${mostBytes} bytes, which is what Ray takes, got ${zip.length}; put what is large where the nodes see it and name its path`,
      );
    }
    const name = `_ray_pkg_${createHash("sha256").update(zip).digest("hex").slice(0, 32)}.zip`;
    const path = `/api/packages/gcs/${name}`;
    const { connection } = this;
    const there = await connection.bytes(doing, "GET", path).then(
      () => true,
      (error: unknown) => {
        if (error instanceof RayError && error.status === 404) return false;
        throw error;
      },
    );
    const body = { data: zip, type: "application/octet-stream" };
    if (!there) await connection.bytes(doing, "PUT", path, body);
    return `gcs://${name}`;
  }

  async submit(job: RaySubmission): Promise<void> {
    await this.connection.json("submit the job", "POST", "/api/jobs/", job);
  }

  /** The job, or undefined where the head knows none of that id. */
  async job(id: string): Promise<RayJob | undefined> {
    try {
      return await this.#ask(details, `ask for job ${id}`, "GET", `/api/jobs/${id}`);
    } catch (error) {
      if (error instanceof RayError && error.status === 404) return undefined;
      throw error;
    }
  }

  async jobs(): Promise<RayJob[]> {
    return this.#ask(z.array(details), "list the cluster's jobs", "GET", "/api/jobs/");
  }

  /** All that a job has said so far. */
  async log(id: string): Promise<string> {
    const said = z.looseObject({ logs: z.string() });
    const path = `/api/jobs/${id}/logs`;
    return (await this.#ask(said, `read the log of job ${id}`, "GET", path)).logs;
  }

  async stop(id: string): Promise<void> {
    await this.connection.json(`stop job ${id}`, "POST", `/api/jobs/${id}/stop`);
  }

  /** Files below a node's session log folder that match; folders are left out. */
  async files(node: string, glob: string): Promise<string[]> {
    const query = new URLSearchParams({ node_id: node, glob });
    const said = await this.#ask(listing, "list a job's files", "GET", `/api/v0/logs?${query}`);
    const all = Object.values(said.data.result).flat();
    return all.filter((name) => !name.endsWith("/")).sort();
  }

  /** One of them, to the byte. */
  file(node: string, name: string): Promise<Buffer> {
    const query = new URLSearchParams({ node_id: node, filename: name, lines: "-1" });
    return this.connection.bytes(`fetch ${name}`, "GET", `/api/v0/logs/file?${query}`);
  }

  async #ask<T>(
    shape: z.ZodType<T>,
    doing: string,
    method: "GET" | "POST",
    path: string,
  ): Promise<T> {
    const parsed = shape.safeParse(await this.connection.json(doing, method, path));
    if (parsed.success) return parsed.data;
    throw new RayError(
      `Cannot ${doing}: ${this.connection.url} must answer as Ray does, got something else: ${z.prettifyError(parsed.error)}`,
      502,
    );
  }
}
