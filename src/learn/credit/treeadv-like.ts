import { pathSpans, pathTo, type TreeInput } from "./credit-tree.js";
import { Credit, short, total, type CreditSum } from "./credit.js";

/**
 * Hard attribution: a segment that several rows share gets the mean of what they get as whole rows. With
 * GRPO's rows this is what TreeAdv's abstract says of its credit; its code is not published.
 */
export function sharedMean(input: TreeInput, rows: readonly CreditSum[]): Credit {
  const { tree, leaves, mask } = input;
  const through = tree.nodes.map((): number[] => []);
  leaves.forEach((leaf, row) => {
    for (const node of pathTo(tree, leaf)) through[node]!.push(row);
  });
  const values = rows.map(total);
  const sums = through.map((sharing): CreditSum => {
    if (sharing.length === 1) return rows[sharing[0]!]!;
    return {
      terms: sharing.map((row) => ({ name: `row ${row}`, value: values[row]! })),
      factors: [
        {
          name: "over the rows that share it",
          value: 1 / sharing.length,
          from: `1 / ${short(sharing.length)}`,
        },
      ],
    };
  });
  return new Credit(
    leaves.map((leaf) => pathSpans(tree, leaf, (node) => sums[node]!)),
    mask,
  );
}
