interface QuantityFacts {
  /** What its colours mean. */
  readonly meaning: string;
  /** What a value on the lower side of a scale with two sides is. */
  readonly less: string;
  /** Names of the scale's ends, in place of its numbers. */
  readonly ends?: readonly [string, string];
  /** The middle of its scale. Default 0; another one is always in the middle. */
  readonly middle?: number;
  /** As far as the scale goes from its middle: one far value must not hide what the others did. */
  readonly most?: number;
  /** The share of the scale up to which a value is as good as its middle. */
  readonly least?: number;
}

const push = { less: "less likely", ends: ["less likely ", " more likely"] } as const;
/** A teacher agrees with most tokens, but for a little. */
const teacher = { less: "below 0", least: 1 / 50 } as const;

/** What is known of each token; in this order where a reader chooses. */
const tokenQuantities = {
  push: { meaning: "advantage times what clipping leaves of it", ...push },
  weight: { meaning: "the factor that clipping leaves on the gradient", less: "less likely" },
  ratio: {
    meaning: "the probability now over that when it was sampled",
    ...{ less: "below 1", middle: 1, most: 1 },
  },
  gap: { meaning: "ln p of the teacher less that of the policy (nats)", ...teacher },
  turn: { meaning: "the gap summed over the turn (nats)", ...teacher },
  advantage: { meaning: "how much better than expected the trajectory did", ...push },
  entropy: { meaning: "how open the choice was (nats)", less: "below 0" },
} satisfies Record<string, QuantityFacts>;

export type TokenQuantity = keyof typeof tokenQuantities;

export const factsOf = (quantity: TokenQuantity): QuantityFacts => tokenQuantities[quantity];
