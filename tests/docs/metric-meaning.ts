/** A metric of a run, under the reference's name where it has one. */
export interface MetricMeaning {
  /** With `SOURCE`, `N`, `K`, `TAG`, `TEST` and `PART` where a name has something of the run's own. */
  name: string;
  meaning: string;
  /** Not in the reference. */
  own?: true;
}

/** Mean, greatest and least of a figure. */
export const spread = (name: string, meaning: string): MetricMeaning[] => [
  { name: `${name}/mean`, meaning: `${meaning}: mean` },
  { name: `${name}/max`, meaning: `${meaning}: greatest` },
  { name: `${name}/min`, meaning: `${meaning}: least` },
];
