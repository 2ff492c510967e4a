import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { liesIn, type RunningLab, runningLabs } from "../lab/running-labs.js";

type Json = Record<string, unknown>;

/** Bytes of an answer that are read. */
const mostBytes = 8 << 20;

const start = (folder: string): string => `the person must start one: arpo-lab lab --dir ${folder}`;

/**
 * The lab of a folder: the one that shows it, or the nearest folder around it; without `dir` also the only one that
 * runs.
 */
export function labOf(
  dir: string | undefined,
  labs: readonly RunningLab[],
  here = process.cwd(),
): RunningLab {
  const folder = realpathSync(resolve(here, dir ?? "."));
  const fit = labs
    .filter((lab) => liesIn(folder, lab.folder))
    .sort((a, b) => b.folder.length - a.folder.length || b.started.localeCompare(a.started));
  if (fit[0] !== undefined) return fit[0];
  if (labs.length === 0) throw new Error(`Cannot reach a lab: none runs; ${start(folder)}`);
  if (dir === undefined && labs.length === 1) return labs[0]!;
  const folders = labs.map((lab) => lab.folder).join(", ");
  throw new Error(
    `Cannot reach a lab: none shows ${folder}; --dir must be in the folder of one that runs: ${folders}`,
  );
}

/** Asks the lab that runs now: one that was started again since the last question is found. */
export class LabLine {
  readonly #dir: string | undefined;

  constructor(dir?: string) {
    this.#dir = dir;
  }

  get lab(): RunningLab {
    return labOf(this.#dir, runningLabs());
  }

  async get(path: string, query: Record<string, string | number> = {}): Promise<Json> {
    const words = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    );
    return await this.#ask(`${path}?${words.toString()}`);
  }

  async post(path: string, body: Json): Promise<Json> {
    return await this.#ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async #ask(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
    const { url, token, folder } = this.lab;
    let answer: Response;
    let text: string;
    try {
      const headers = { ...init.headers, authorization: `Bearer ${token}` };
      const signal = AbortSignal.timeout(55_000);
      answer = await fetch(new URL(`agent/${path}`, url), {
        ...{ ...init, headers, signal, redirect: "error" },
      });
      text = await textOf(answer);
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string } };
      const why = cause?.code ?? message;
      throw new Error(
        `Cannot reach the lab of ${folder}: it stopped, or does not answer (${why}); ${start(folder)}`,
        { cause: error },
      );
    }
    const told = JSON.parse(text) as Json;
    if (answer.ok) return told;
    throw new LabRefusal(answer.status, String(told["message"]));
  }
}

/** What a lab refused, with HTTP's number for it. */
export class LabRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function textOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > mostBytes) throw new Error(`its answer has more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
