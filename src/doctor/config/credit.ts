import type { Config } from "../../run/config/schema.js";
import { estimatorsByName } from "../../learn/estimators/registry.js";
import { ownName } from "../../run/config/choices.js";
import { configKeys } from "../../run/config/keys.js";
import { findings } from "../check.js";
import { advised, estimatorAdvice, type Rule } from "./context.js";

const { warning } = findings("credit");

/** Keys that differ from their defaults, of estimators that were not chosen. */
function idleKeys({ algorithm, lab }: Config): string[] {
  const chosen = ownName(estimatorsByName, algorithm.adv_estimator);
  return configKeys().flatMap(({ path, default: usual }) => {
    const [, section, method, name] = path.split(".");
    if (section !== "credit" || method === undefined || name === undefined) return [];
    const told = lab.credit[method];
    return method === chosen || told?.[name] === usual ? [] : [path];
  });
}

/** What an estimator of the family needs of the rollouts, and settings that no estimator reads. */
export const credit: Rule = function* ({ config }) {
  const { adv_estimator: estimator } = config.algorithm;
  yield* advised("credit", estimatorAdvice(config));
  const idle = idleKeys(config);
  if (idle.length > 0) {
    yield warning(
      "credit-keys-idle",
      `the estimator is ${estimator}, which does not read ${idle.join(", ")}`,
    );
  }
};
