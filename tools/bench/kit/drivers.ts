// Which Vulkan driver the card kit uses. A container often has NVIDIA's libraries without the file that names
// them to Vulkan, or without X11, which one of the two needs: then the kit names them itself.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gpuFiles } from "../../../src/tensor/optional/webgpu.js";

/** What an adapter process found (adapter.ts). */
interface Answer {
  name?: string;
  software?: boolean;
  features?: string[];
  error?: string;
}
export interface Driver {
  name: string;
  software: boolean;
  features: string[];
  /** The file that names the driver to Vulkan, where it is not the system's choice. */
  file?: string;
  /** Removes what was made for it. */
  dispose(): void;
}

const nvidia = ["libGLX_nvidia.so.0", "libEGL_nvidia.so.0"];
const libraryFolders = [
  ...["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"],
  ...(process.env.LD_LIBRARY_PATH?.split(":") ?? []),
];
const library = (name: string) =>
  libraryFolders.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** Drivers that compute on the processor: Mesa's and Chromium's. */
function softwareFiles(): string[] {
  const folder = "/usr/share/vulkan/icd.d";
  const mesa = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.startsWith("lvp_"))
    : [];
  return ["/usr/lib/chromium/vk_swiftshader_icd.json", ...mesa.map((name) => join(folder, name))];
}

function ask(file: string | undefined): Answer {
  const part = fileURLToPath(new URL("adapter.js", import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [part], {
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, ...(file === undefined ? {} : { VK_ICD_FILENAMES: file }) },
  });
  try {
    return JSON.parse(stdout) as Answer;
  } catch {
    return { error: stderr.trim().split("\n").at(-1) || "the process that asked for it ended" };
  }
}

/** What a person can do where no card answered. */
function advice(): string {
  if (!gpuFiles().some((name) => name.startsWith("nvidia"))) {
    return "/dev has no nvidia0: start the container with the card (`docker run --gpus all`), or load the driver";
  }
  if (!library("libvulkan.so.1")) {
    return "the Vulkan loader libvulkan.so.1 is missing: install it (Debian, Ubuntu: libvulkan1; Fedora: vulkan-loader)";
  }
  if (!nvidia.some(library)) {
    return `${nvidia.join(" and ")} are missing: start the container with NVIDIA_DRIVER_CAPABILITIES=all, or install the driver's libnvidia-gl`;
  }
  return "the driver's libraries are there and do not start: `VK_LOADER_DEBUG=error ./card` shows why";
}

/**
 * The driver on which a card answers: the system's choice, else NVIDIA's libraries named by the kit, else one in
 * software. `say` hears why there is no card.
 */
export function findDriver(say: (text: string) => void): Driver {
  const folder = mkdtempSync(join(tmpdir(), "arpo-card-"));
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  const named = process.env.VK_ICD_FILENAMES !== undefined;
  const own = nvidia.flatMap((name) => {
    const path = named ? undefined : library(name);
    if (path === undefined) return [];
    const file = join(folder, `${name}.json`);
    const driver = { file_format_version: "1.0.0", ICD: { library_path: path, api_version: "1.3.0" } }; // prettier-ignore
    writeFileSync(file, JSON.stringify(driver));
    return [file];
  });
  let software: Driver | undefined;
  const errors: string[] = [];
  for (const file of [undefined, ...own, ...(named ? [] : softwareFiles())]) {
    if (software && !own.includes(file ?? "")) break;
    const { name, features = [], error, ...answer } = ask(file);
    if (name === undefined) {
      errors.push(error ?? "no answer");
      continue;
    }
    const driver = { name, software: answer.software === true, features, dispose };
    const found = file === undefined ? driver : { ...driver, file };
    if (!found.software) return found;
    software ??= found;
  }
  if (software) {
    say(`no card answers (${advice()})`);
    return software;
  }
  dispose();
  throw new Error(
    `Cannot measure a card: a GPU must answer through Vulkan, got ${errors[0]}; ${advice()}`,
  );
}
