import { defined } from "../../../common/options/defined.js";
import type { CacheType, DecoderType } from "../../../src/model/decoder/weights.js";
import { modelFolder } from "../../../src/model/files/model-folder.js";
import { Policy } from "../../../src/policy/policies.js";
import { PolicyServer } from "../../../src/interop/serve/policy-server.js";
import { say } from "../terminal/say.js";

export interface ServeCommandOptions {
  port: number;
  host: string;
  apiKeyEnv?: string;
  name?: string;
  context?: number;
  dtype: DecoderType;
  cache: CacheType;
  maxRows: number;
  maxQueue: number;
  quiet?: boolean;
}

/** How long running requests may take to finish after Ctrl-C. */
const GRACE_MS = 10_000;

/** Serves a model until it is told to stop. */
export async function runServe(folder: string, options: ServeCommandOptions): Promise<void> {
  const { host, port, apiKeyEnv, dtype, cache, maxRows, maxQueue } = options;
  const policy = await Policy.load(modelFolder(folder), {
    ...{ dtype, cache, top: 20 }, // so many as a request may ask for
    ...(options.name === "any" ? {} : defined({ name: options.name })),
    contextLength: options.context,
  });
  try {
    const server = await PolicyServer.start(policy, {
      ...{ host, port, apiKeyEnv, maxRows, maxQueue },
      ...(options.name === "any" ? { model: "any" } : {}),
      ...(options.quiet ? {} : { log: say }),
    });
    const key = apiKeyEnv === undefined ? "no key" : `the key in ${apiKeyEnv}`;
    say(`${server.model} at ${server.url} (${key}). Ctrl-C stops it.`);
    const signal = await new Promise<string>((stop) => {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop(name));
    });
    const { rows } = server.load();
    const finishing = rows > 0 ? `; finishing ${rows} sequences, Ctrl-C again ends them` : "";
    say(`\nStopping on ${signal}${finishing}.`);
    const stopping = server.stop(GRACE_MS);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => void server.stop());
    await stopping;
  } finally {
    policy.dispose();
  }
}
