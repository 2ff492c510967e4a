import { needsOf } from "../../learn/estimators/registry.js";
import { configKeys } from "../../run/config/keys.js";
import type { Config } from "../../run/config/schema.js";
import { loggers } from "../../run/loggers/registry.js";
import { carriedAs, isLossOfVerl, verlEstimators } from "./key-table.js";

/** A configuration as verl takes it. */
interface VerlConfig {
  /** `key=value`, in the order of our keys. */
  overrides: string[];
  /** Settings of the tree's agent loop. */
  loop: Record<string, unknown>;
  /** What was left out, and why. */
  notes: string[];
}

const at = (config: Config, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A value as hydra reads it. */
export function hydraValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return `[${value.map(hydraValue).join(",")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(([key, one]) => `${key}:${hydraValue(one)}`);
    return `{${pairs.join(",")}}`;
  }
  if (typeof value !== "string") return String(value);
  return /^[\w./@-]+$/.test(value) && !/^(null|true|false|[\d.-]+(e-?\d+)?)$/i.test(value)
    ? value
    : `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** The loss there: AEPO's switches are losses of arpo_verl. */
function lossMode(actor: Config["actor_rollout_ref"]["actor"]): string {
  const clipping = actor.enable_entropy_balanced_clipping;
  const advantage = actor.enable_entropy_balanced_advantage;
  if (clipping && advantage) return "aepo";
  if (clipping) return "aepo_clipping";
  return advantage ? "aepo_advantage" : actor.policy_loss.loss_mode;
}

/**
 * Maps every key, carries it to the loop or leaves it out with a reason; what verl 0.9.1 cannot do is
 * refused, all of it in one error.
 */
export function verlConfig(config: Config): VerlConfig {
  const out: VerlConfig = { overrides: [], loop: {}, notes: [] };
  const faults: string[] = [];
  const { algorithm, actor_rollout_ref: actorRolloutRef } = config;
  for (const { path, default: byDefault, kept } of configKeys()) {
    const value = at(config, path);
    const carried = carriedAs(path);
    if ("refused" in carried) {
      if (!isSame(value, byDefault))
        faults.push(`${path}=${hydraValue(value)} (${carried.refused})`);
    } else if ("loop" in carried) {
      out.loop[carried.loop] = value;
      if (carried.only && !carried.only.includes(String(value))) {
        faults.push(`${path}=${hydraValue(value)} (the loop knows ${carried.only.join(" and ")})`);
      }
    } else if ("left" in carried) {
      if (!isSame(value, byDefault)) out.notes.push(`${path} is not an override: ${carried.left}`);
    } else if (path.startsWith("critic.")) {
      // Without gae there is none.
    } else if (!kept || !isSame(value, byDefault)) {
      if (carried.only && !carried.only.includes(String(value))) {
        faults.push(`${path}=${hydraValue(value)} (verl has ${carried.only.join(", ")})`);
      }
      const mapped = carried.value ? carried.value(value) : value;
      out.overrides.push(`${carried.to}=${hydraValue(mapped)}`);
    }
  }
  const { policy_loss: loss } = actorRolloutRef.actor;
  const mode = lossMode(actorRolloutRef.actor);
  const { adv_estimator: estimator } = algorithm;
  if (!verlEstimators.has(estimator)) {
    const why =
      needsOf(estimator) === "values"
        ? "critics are not carried yet"
        : "verl 0.9.1 has no such one";
    faults.push(`algorithm.adv_estimator=${estimator} (${why})`);
  }
  if (!isLossOfVerl(loss.loss_mode)) {
    faults.push(
      `actor_rollout_ref.actor.policy_loss.loss_mode=${loss.loss_mode} (verl 0.9.1 has no such one)`,
    );
  }
  if (mode !== loss.loss_mode && loss.loss_mode !== "vanilla") {
    const why = `a loss of its own beside AEPO's ${mode}: verl takes one`;
    faults.push(`actor_rollout_ref.actor.policy_loss.loss_mode=${loss.loss_mode} (${why})`);
  }
  const { trainer } = config;
  const logged = new Set(["console", ...trainer.logger, "file"]);
  const own = trainer.logger.filter((one) => !loggers.built.some(({ name }) => name === one));
  for (const one of own) logged.delete(one);
  if (own.length > 0) {
    out.notes.push(`trainer.logger=${own.join(",")} is left out: verl 0.9.1 has no such one`);
  }
  if (actorRolloutRef.actor.enable_entropy_balanced_advantage) {
    out.overrides.push("actor_rollout_ref.actor.calculate_entropy=true");
  }
  out.overrides.push(
    `actor_rollout_ref.actor.policy_loss.loss_mode=${mode}`,
    // What is followed from elsewhere is read off the console.
    `trainer.logger=${hydraValue([...logged])}`,
    `trainer.rollout_data_dir=${hydraValue(trainer.rollout_data_dir ?? "@JOB@/results/rollouts")}`,
    `trainer.validation_data_dir=${hydraValue(trainer.validation_data_dir ?? "@JOB@/results/validation")}`,
    "data.return_raw_chat=true",
    "actor_rollout_ref.rollout.mode=async",
    "actor_rollout_ref.rollout.calculate_log_probs=true",
    "actor_rollout_ref.rollout.agent.default_agent_loop=arpo_tree",
  );
  if (faults.length === 0) return out;
  throw new RangeError(
    `Cannot export to verl 0.9.1: every key must have a counterpart there, got ${faults.join("; ")}`,
  );
}
