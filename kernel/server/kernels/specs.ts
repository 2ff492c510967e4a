import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kernelLogo } from "../../client/kernel-logo.js";
import { findKernel, kernelFolders, type KernelSpec, ownKernel } from "../../client/kernel-spec.js";
import { mimeOf } from "../contents/model.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Answer, Router } from "../http/router.js";

const ours = ["arpo-lab", "arpo-lab-js"];
const goodName = /^[\w.-]+$/;

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // most of these folders do not exist
  }
}

interface Found {
  spec: KernelSpec;
  /** Its icons by name; ours are drawn. */
  resources: Map<string, string | undefined>;
}

/** Every kernel that can be started: ours, then the installed ones, most particular folder first. */
function allKernels(folders = kernelFolders()): Found[] {
  const found = new Map<string, Found>();
  for (const language of ["typescript", "javascript"] as const) {
    const spec = ownKernel(language);
    found.set(spec.name, { spec, resources: new Map([["logo-svg.svg", undefined]]) });
  }
  for (const folder of folders) {
    for (const name of entries(folder).sort()) {
      if (found.has(name) || !goodName.test(name)) continue;
      const files = entries(join(folder, name));
      if (!files.includes("kernel.json")) continue;
      let spec: KernelSpec;
      try {
        spec = findKernel(name, [folder]);
      } catch {
        continue; // a broken kernel.json must not hide the other kernels
      }
      const resources = files.filter((f) => f.startsWith("logo-") || /^kernel\.(js|css)$/.test(f));
      found.set(name, {
        spec,
        resources: new Map(resources.map((f) => [f, join(folder, name, f)])),
      });
    }
  }
  return [...found.values()];
}

/** A kernel by name: ours first, so that what runs is this copy. */
export function kernelNamed(name: string): KernelSpec {
  if (ours.includes(name)) return findKernel(name, []);
  if (!goodName.test(name)) {
    throw new RangeError(
      `Cannot start kernel: its name must be plain, got ${JSON.stringify(name)}`,
    );
  }
  return findKernel(name);
}

function model({ spec, resources }: Found): Record<string, unknown> {
  const { name, displayName, language, argv, env, interrupt, debugger: debugs } = spec;
  return {
    name,
    spec: {
      argv,
      env,
      display_name: displayName,
      language,
      interrupt_mode: interrupt,
      metadata: debugs ? { debugger: true } : {},
    },
    resources: Object.fromEntries(
      [...resources.keys()].map((file) => [
        file.replace(/\.\w+$/, ""),
        `/kernelspecs/${encodeURIComponent(name)}/${encodeURIComponent(file)}`,
      ]),
    ),
  };
}

/** Adds `/api/kernelspecs` and the icons. */
export function specRoutes(router: Router): void {
  const named = (name: string): Found => {
    const found = allKernels().find(({ spec }) => spec.name === name);
    if (found === undefined) throw new ErrorResponse(404, `Kernel spec ${name} not found`);
    return found;
  };
  router.on("GET", "/api/kernelspecs", () => ({
    json: {
      default: "arpo-lab",
      kernelspecs: Object.fromEntries(allKernels().map((found) => [found.spec.name, model(found)])),
    },
  }));
  router.on("GET", "/api/kernelspecs/:name", ({ params }) => ({
    json: model(named(params["name"]!)),
  }));
  router.on("GET", "/kernelspecs/:name/:file", ({ params }): Answer => {
    const { spec, resources } = named(params["name"]!);
    const file = params["file"]!;
    if (!resources.has(file)) throw new ErrorResponse(404, `No such resource: ${file}`);
    const place = resources.get(file);
    return {
      headers: { "content-type": mimeOf(file) ?? "application/octet-stream" },
      bytes: place === undefined ? Buffer.from(kernelLogo(spec.language)) : readFileSync(place),
    };
  });
}
