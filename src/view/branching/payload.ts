/** A trajectory of the tree on the axis. */
export interface BranchingTrajectory {
  id: number;
  /** Tokens that it shares with the trajectory it left, and all of them. */
  shared: number;
  length: number;
  /** Where tools answered. */
  results: [from: number, to: number][];
}

/** A place where a rule would branch, however many trajectories leave there. */
export interface ShownPoint {
  trajectory: number;
  /** Tokens that stay. */
  at: number;
  /** The token it is about, by its place in the response. */
  place: number;
  round: number;
  /** Its trajectories' places among the branches of the round, and the score of each. */
  orders: number[];
  scores: number[];
  /** Trajectories of the tree that leave there. */
  children: number[];
  /** The text around it, where tokens can be told. */
  before: string;
  token: string;
  after: string;
  /** What is known of the token. */
  numbers: [name: string, value: number][];
  /** What the rule goes by, in words and numbers. */
  why: string;
}

/** One rule's line. */
export interface ShownRule {
  name: string;
  meaning: string;
  /** What of its settings says most. */
  note?: string;
  /** What the tree lacks for it, instead of points. */
  missing?: string;
  points: ShownPoint[];
  /** Branches it would make, and those the tree does not have. */
  branches: number;
  unseen: number;
}

/** What the page is given. */
export interface BranchingPayload {
  summary: string[];
  trajectories: BranchingTrajectory[];
  longest: number;
  rules: ShownRule[];
  /** The mean entropy along the axis, in so many equal parts; null where nothing was drawn. */
  profile: (number | null)[];
}

/** Points' first scores from the lowest to the highest, as the ends of a ramp. */
export function scoreRange(
  points: readonly { scores: readonly number[] }[],
): [low: number, high: number] {
  const firsts = points.map(({ scores: [first] }) => first!);
  const [low, high] = [Math.min(...firsts), Math.max(...firsts)];
  return high > low ? [low, high] : [low - 1, low];
}
