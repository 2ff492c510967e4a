import { findings } from "../check.js";
import { rowsOf, type Rule } from "./context.js";

const { slow, warning, error } = findings("tools");

const duration = (seconds: number) =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7200
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`;

/** Limits and time-outs of tools. */
export const toolLimits: Rule = function* (context) {
  const { rollout } = context.config.actor_rollout_ref;
  const { tools } = rollout;
  const instances = Object.keys(tools.tool_instances).length;
  if (rollout.mode === "sync") {
    if (instances > 0) {
      yield warning(
        "tools-unused",
        `rollout.mode=sync uses no tools, and ${instances} are configured`,
        "actor_rollout_ref.rollout.mode=sync_with_tool",
      );
    }
    return;
  }
  if (tools.call_limit === 0) {
    yield error(
      "no-calls",
      "tools.call_limit=0: the first call of every trajectory ends it without an answer",
      "actor_rollout_ref.rollout.tools.call_limit=3, or rollout.mode=sync",
    );
  }
  if (tools.timeout < 1) {
    yield warning(
      "timeout-too-short",
      `tools.timeout is ${tools.timeout} s: a sandbox that starts takes longer, and its trajectories read "timed out"`,
      "actor_rollout_ref.rollout.tools.timeout=10",
    );
  }
  const calls = rowsOf(context) * tools.call_limit;
  const worst = (calls / tools.max_workers) * tools.timeout * tools.retry_count;
  if (worst > 3600) {
    yield slow(
      "tools-may-stall",
      `a step can make ${calls} calls; if a tool hangs, ${tools.max_workers} at a time, ${tools.retry_count} attempts of ${tools.timeout} s each, that is up to ${duration(worst)} of waiting`,
      "a shorter tools.timeout (a healthy call takes seconds), fewer attempts, or more tools.max_workers",
    );
  }
};
