import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Chromium brings a software adapter: slow, and right or wrong like another. The card kit (tools/bench/kit) chooses itself.
const software = "/usr/lib/chromium/vk_swiftshader_icd.json";

/** Whether a check failed for want of any GPU, even one of software. */
export function lacksGpu(stderr: string): boolean {
  return /GPU adapter must be found|Cannot find package 'webgpu'/.test(stderr);
}

/** Runs a check beside this file on Dawn: what it wrote as JSON, or what it said where it failed. */
export function runCheck(name: string, environment: Record<string, string>): unknown {
  const check = fileURLToPath(new URL(name, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [check], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    env: {
      ...process.env,
      ...(existsSync(software) && !process.env.ARPO_LAB_CARD ? { VK_ICD_FILENAMES: software } : {}),
      ...environment,
    },
  });
  return status === 0 ? (JSON.parse(stdout) as unknown) : stderr;
}
