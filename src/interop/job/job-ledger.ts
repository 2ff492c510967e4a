import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "#zod";
import { makeFolderSync, writeDurably } from "../../../common/files/durable.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { jobRecord, type JobRecord } from "./job-record.js";

/** Where the list of jobs is kept; `ARPO_LAB_JOBS` overrides. */
function jobsFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env["ARPO_LAB_JOBS"]) return env["ARPO_LAB_JOBS"];
  return join(env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "arpo-lab", "jobs");
}

/**
 * The list of jobs on this machine, and the packages they were sent with: a cluster's head that starts
 * anew knows nothing of them. A job is written here before it is sent.
 */
export class JobLedger {
  constructor(readonly folder: string = jobsFolder()) {}

  async save(record: JobRecord): Promise<void> {
    await this.#write(`${record.id}.json`, `${JSON.stringify(record, null, 1)}\n`);
  }

  /** @throws RangeError where none has that id. */
  async find(id: string): Promise<JobRecord> {
    const text = isName(id) ? await readIfThere(join(this.folder, `${id}.json`)) : undefined;
    if (text !== undefined) return this.#parse(id, text);
    const all = (await this.all()).map((record) => record.id);
    throw new RangeError(
      `Cannot find the job: its id must be one of ${all.slice(-5).join(", ") || "those kept here, and there is none"}, got ${id}`,
    );
  }

  /** Every job, the oldest first. */
  async all(): Promise<JobRecord[]> {
    const names = await readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      // A folder that cannot be read may hold jobs; only one that is not there holds none.
      if (error.code !== "ENOENT") throw error;
      return [];
    });
    const records: JobRecord[] = [];
    for (const name of names) {
      if (!name.endsWith(".json")) continue;
      records.push(this.#parse(name, await readFile(join(this.folder, name), "utf8")));
    }
    return records.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  /** Keeps a package; gives its name. */
  async keep(zip: Uint8Array): Promise<string> {
    const name = `${createHash("sha256").update(zip).digest("hex").slice(0, 32)}.zip`;
    await this.#write(name, zip);
    return name;
  }

  package(name: string): Promise<Buffer> {
    return readFile(join(this.folder, name));
  }

  #parse(name: string, text: string): JobRecord {
    let read: unknown;
    try {
      read = JSON.parse(text);
    } catch {
      read = undefined;
    }
    const parsed = jobRecord.safeParse(read);
    if (parsed.success) return parsed.data;
    throw new SyntaxError(
      `Cannot read the list of jobs: ${name} in ${this.folder} must be a job, got ${z.prettifyError(parsed.error)}`,
    );
  }

  /** Whole or not at all, and on disk before anybody is told. */
  async #write(name: string, data: string | Uint8Array): Promise<void> {
    makeFolderSync(this.folder, 0o700);
    await writeDurably(join(this.folder, name), data, 0o600);
  }
}

const isName = (id: string): boolean => /^[\w.-]+$/.test(id);
