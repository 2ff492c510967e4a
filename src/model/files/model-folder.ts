import { existsSync } from "#platform/files";
import { packagePath } from "#platform/modules";
import { basename, join, relative, resolve } from "#platform/path";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { makeFolder } from "../../../common/files/durable.js";
import { homePath } from "../../base/files/home-path.js";

const packageRoot = packagePath("");

/**
 * The folder (or `.gguf` file) of a model: the one that is there, seen from the working folder; where there is none, a
 * `data/models/NAME` is the model of that name that comes with the package. So that the same command and
 * the same cell work in a clone of the repository and in a project of one's own.
 */
export function modelFolder(path: string): string {
  checkArguments("find a model", { path }, { path: "path" });
  const here = resolve(homePath(path));
  if (existsSync(here) || !/^(\.\/)?data\/models\/[\w.-]+\/?$/.test(path)) return here;
  const shipped = join(packageRoot, path);
  return existsSync(shipped) ? shipped : here;
}

/** What to do where there is no model at a path. An owner and a name are a model's id on Hugging Face's hub. */
export function howToHave(path: string): string {
  const asked = relative(resolve(""), path).replaceAll("\\", "/");
  const [owner, name] = /^(\w[\w.-]*)\/(\w[\w.-]*)$/.exec(asked)?.slice(1) ?? [];
  if (owner === undefined || name?.endsWith(".gguf") || existsSync(resolve(owner))) {
    return "arpo-lab fetch smollm2 downloads one";
  }
  return `models are read from a folder, and ids of a hub are not downloaded: hf download ${asked} --local-dir ${name}, then give the path ${name}`;
}

/** What a model is called: its folder's name, or its file's without the ending. */
export function modelName(path: string): string {
  return basename(path).replace(/\.gguf$/i, "");
}

/** Makes a folder to write to and those above it, or says what is in the way. */
export async function outputFolder(folder: string, action: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RangeError(
      `Cannot ${action}: ${folder} must be a folder that can be written, got ${code}`,
      { cause: error },
    );
  }
}
