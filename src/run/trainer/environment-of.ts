import { isAbsolute, resolve } from "#platform/path";
import { addressOf } from "#platform/addresses";
import { environments } from "../../tasks/environments/index.js";
import { makeEnvironment, type EnvironmentSource } from "../../environments/environment.js";
import { homePath } from "../../base/files/home-path.js";
import { importModule } from "../../base/modules/import-module.js";
import { nearest } from "../../../common/options/nearest.js";
import type { Config } from "../config/schema.js";
import { familiesIn } from "./tasks-of.js";

/**
 * The environment a configuration names (`data.environment`): one that ships, or what a module exports
 * (`./shop.ts`, `./shop.ts#Shop`): a class or a function that makes an instance. Without a name it is that
 * of the task generators, where theirs have one.
 */
export async function environmentOf(
  config: Pick<Config, "data">,
): Promise<EnvironmentSource | undefined> {
  const { environment: name, train_files: train, val_files: validation } = config.data;
  if (name === null) return fromFamilies([...familiesIn(train), ...familiesIn(validation)]);
  if (Object.hasOwn(environments, name)) return shipped(name as keyof typeof environments);
  const [file = "", exported = "default"] = name.split("#");
  if (!/\.m?[jt]s$/.test(file)) {
    const near = nearest(name, Object.keys(environments));
    throw new RangeError(
      `Cannot use an environment: data.environment must be a module (.js, .mjs, .ts, .mts) or one of ${Object.keys(environments).join(", ")}, got ${name}${near ? `; did you mean ${near}?` : ""}`,
    );
  }
  const path = homePath(file);
  const module = await importModule(addressOf(isAbsolute(path) ? path : resolve(path))).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `Cannot use an environment: ${file} must be a module that loads, got ${reason}`,
        { cause: error },
      );
    },
  );
  const source = module[exported];
  if (typeof source !== "function") {
    throw new TypeError(
      `Cannot use an environment: ${file} must export a class or a function ${exported}, got ${Object.keys(module).join(", ") || "nothing"}`,
    );
  }
  // What can be wrong with it is looked at before a model is read.
  const tried = await makeEnvironment(source as EnvironmentSource);
  await tried.dispose?.();
  return source as EnvironmentSource;
}

const shipped = (name: keyof typeof environments): EnvironmentSource =>
  environments[name]({ train: 1, test: 1 }).environment!;

/** The one environment of some families; tasks with and without one cannot be mixed. */
function fromFamilies(families: readonly string[]): EnvironmentSource | undefined {
  const kinds = [...new Set(families)];
  const acted = kinds.filter((name) => Object.hasOwn(environments, name));
  if (acted.length === 0) return undefined;
  if (kinds.length > 1) {
    throw new RangeError(
      `Cannot use an environment: all tasks of a run must be of the same one, got ${kinds.join(", ")}`,
    );
  }
  return shipped(acted[0] as keyof typeof environments);
}
