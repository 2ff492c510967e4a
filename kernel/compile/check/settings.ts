import { addressOf } from "#platform/addresses";
import { readFileSync } from "#platform/files";
import { dirname, join } from "#platform/path";

/** The "arpo-lab" field of the package.json nearest to the notebook. */
export interface Settings {
  /** false: every cell of the folder runs whatever its types say. */
  check: boolean;
  /** Compiler options over the kernel's own, as in a tsconfig.json. `{ "strict": true }` for one. */
  compilerOptions: Record<string, unknown>;
  /** Modules that export stage cells as `stages`; a path starts at the package.json. */
  stages: string[];
}

const none: Settings = { check: true, compilerOptions: {}, stages: [] };

/**
 * Reads the settings for a folder from the package.json nearest to it, which is its project's; those
 * further up are somebody else's. A folder without any has the defaults.
 */
export function readSettings(folder: string): Settings {
  for (let at = folder; ; at = dirname(at)) {
    const project = readProject(join(at, "package.json"));
    if (project !== undefined) {
      const field = project["arpo-lab"] ?? {};
      const stages = (field.stages ?? []).map((name) =>
        name.startsWith(".") ? addressOf(join(at, name)) : name,
      );
      return { ...none, ...field, stages };
    }
    if (dirname(at) === at) return none;
  }
}

interface Project {
  "arpo-lab"?: Partial<Settings>;
}

function readProject(file: string): Project | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined; // no package.json here: look further up
  }
  try {
    return JSON.parse(text) as Project;
  } catch (cause) {
    throw new SyntaxError(`Cannot read ${file}: it must be JSON`, { cause });
  }
}
