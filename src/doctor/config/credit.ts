import type { Config } from "../../run/config/schema.js";
import { configKeys } from "../../run/config/keys.js";
import { advised, estimatorAdvice, finding, type Rule } from "./context.js";

const about = finding("credit");

/** Keys that differ from their defaults, of estimators that were not chosen. */
function idleKeys({ algorithm, lab }: Config): string[] {
  return configKeys.flatMap(({ path, default: usual }) => {
    const [, section, method, name] = path.split(".");
    if (section !== "credit" || method === undefined || name === undefined) return [];
    const told = lab.credit[method];
    return method === algorithm.adv_estimator || told?.[name] === usual ? [] : [path];
  });
}

/** What an estimator of the family needs of the rollouts, and settings that no estimator reads. */
export const credit: Rule = ({ config }) => {
  const { adv_estimator: estimator } = config.algorithm;
  const found = estimatorAdvice(config).map(advised("credit"));
  const idle = idleKeys(config);
  if (idle.length > 0) {
    found.push(
      about(
        "credit-keys-idle",
        "warning",
        `the estimator is ${estimator}, which does not read ${idle.join(", ")}`,
      ),
    );
  }
  return found;
};
