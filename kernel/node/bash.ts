import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import type { KernelHost } from "../host/host.js";

/** Runs a script and passes on what it prints, as it prints it. An interrupt ends it. */
export function runBash(host: KernelHost, script: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = host.cell()?.signal;
    const child = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"], signal });
    for (const name of ["stdout", "stderr"] as const) {
      const decoder = new StringDecoder();
      child[name].on("data", (bytes: Buffer) => host.stream(name, decoder.write(bytes)));
    }
    child.on("error", (error) => reject((signal?.reason as Error | undefined) ?? error));
    child.on("close", (code, killed) => {
      if (code === 0) resolve();
      else if (signal?.aborted === true) reject(signal.reason as Error);
      else reject(new Error(`Cannot finish %%bash: it must exit with 0, got ${code ?? killed}`));
    });
  });
}
