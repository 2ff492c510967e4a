import type { AdvantageOptions } from "../../learn/advantages.js";
import type { Config } from "../config/schema.js";

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What the configuration says about single estimators: its keys are their options' names; null is unset. */
export function creditOptions({ lab }: Config): AdvantageOptions {
  const sections = Object.entries(lab.credit).map(([method, keys]) => [
    camel(method),
    Object.fromEntries(
      Object.entries(keys).flatMap(([name, value]: [string, unknown]) =>
        value === null ? [] : [[camel(name), value]],
      ),
    ),
  ]);
  const options = Object.fromEntries(sections) as AdvantageOptions;
  return { ...options, treerl: { ...options.treerl, seed: lab.seed } };
}
