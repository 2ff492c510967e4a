import { type CreditTrajectory, trajectoryFinder } from "./credit-trajectories.js";

/** The initial trajectory that a branch goes back to, and the tokens both have in common. */
export function leaving(trajectories: readonly CreditTrajectory[]) {
  const find = trajectoryFinder(trajectories);
  return (trajectory: number): { from: number; shared: number } => {
    let at = trajectory;
    let shared = Infinity;
    while (!trajectories[at]!.initial) {
      shared = Math.min(shared, trajectories[at]!.shared);
      const above = find(trajectories[at]!.tree, trajectories[at]!.parent);
      if (above < 0) break;
      at = above;
    }
    return { from: at, shared };
  };
}
