import { Random } from "../../src/base/random/random.js";
import { type Area, areaOf, type Verdict } from "./attempt.js";
import { campaigns } from "./areas.js";

export interface Order {
  campaign: string;
  area?: string;
  seed: number;
  index: number;
  folder: string;
}

export interface Result {
  index: number;
  area: string;
  name: string;
  promise: string;
  verdict: Verdict;
  happened: string;
  ms: number;
}

/** The areas that an order chooses among. */
export const areasOf = ({ campaign, area }: Pick<Order, "campaign" | "area">): readonly Area[] =>
  campaigns[campaign]!.filter(({ name }) => area === undefined || name === area);

/** An attempt by its number: the same seed and number are the same attempt. */
export function attemptOf(order: Order) {
  const area = areaOf(areasOf(order), order.index);
  const random = Random.from(order.seed).split(area.name).split(order.index);
  return { area, attempt: area.make(random) };
}
