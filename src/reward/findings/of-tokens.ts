import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { FindingDefinition, FindingPlace } from "./definition.js";
import { percent } from "./of-rewards.js";
import { isSpecial, laidText, spansOf, type TokenRow, tokensOf, tokenText } from "./token-rows.js";

type Range = readonly [from: number, to: number];

const many = (number: number) => `${number} ${number === 1 ? "trajectory" : "trajectories"}`;

interface Marked {
  row: TokenRow;
  tokens: readonly Range[];
}

const count = (tokens: readonly Range[]) => tokens.reduce((sum, [from, to]) => sum + to - from, 0);

const places = (marked: readonly Marked[]): FindingPlace[] =>
  marked.map(({ row: { group, tree, trajectory }, tokens }) => ({
    ...{ group, row: trajectory.id, tree: tree.index },
    ...(tokens.length > 0 ? { tokens } : {}),
  }));

/** What marked tokens are of all that are trained: by number, and by the size of their advantages. */
function inTheLoss(rows: readonly TokenRow[], marked: readonly Marked[]): string {
  const size = ({ advantages, trajectory: { lossMask } }: TokenRow, [from, to]: Range) => {
    let sum = 0;
    for (let t = from; t < to; t++) {
      const advantage = advantages?.[t] ?? 0;
      if (lossMask[t] === 1 && !Number.isNaN(advantage)) sum += Math.abs(advantage);
    }
    return sum;
  };
  const trained = rows.reduce(
    (sum, { trajectory }) => sum + trajectory.lossMask.reduce((a, b) => a + b, 0),
    0,
  );
  const own = marked.reduce((sum, { tokens }) => sum + count(tokens), 0);
  if (own === 0) return "Without a tokenizer their tokens cannot be counted";
  const all = rows.reduce((sum, row) => sum + size(row, [0, row.trajectory.tokens.length]), 0);
  const part = marked.reduce(
    (sum, { row, tokens }) => sum + tokens.reduce((a, range) => a + size(row, range), 0),
    0,
  );
  const weight = all > 0 ? `, with ${percent(part, all)} of the advantages' size` : "";
  return `They are ${own} of ${trained} trained tokens, ${percent(own, Math.max(1, trained))} of the loss${weight}`;
}

/** Tokens that begin or end elsewhere when their text is tokenized again. */
function changed(tokenizer: Tokenizer, ids: readonly number[], at: number): Range[] {
  const again = tokenizer.encode(tokenizer.decode(ids));
  if (again.length === ids.length && again.every((id, i) => id === ids[i])) return [];
  const ranges: [number, number][] = [];
  const length = (id: number) => tokenText(tokenizer, id).length;
  let [i, k, a, b] = [0, 0, 0, 0];
  while (i < ids.length) {
    if (a === b && ids[i] === again[k]) {
      a += length(ids[i++]!);
      b += length(again[k++]!);
      continue;
    }
    const from = i;
    do {
      if ((a <= b || k >= again.length) && i < ids.length) a += length(ids[i++]!);
      else if (k < again.length) b += length(again[k++]!);
      else break;
    } while (a !== b || (i === from && k < again.length));
    if (i === from) break;
    ranges.push([at + from, at + i]);
  }
  // Characters of several tokens have no length of their own here: then all that differs is marked.
  return ranges.length > 0 ? ranges : [[at, at + ids.length]];
}

export const retokenized: FindingDefinition = {
  name: "retokenized",
  title: "Ids that change when tokenized again",
  find: ({ rows }) => {
    const known = rows.filter(({ tokenizer, hasIds }) => hasIds && tokenizer !== undefined);
    const marked = known.flatMap((row): Marked[] => {
      const tokenizer = row.tokenizer!;
      const { tokens } = row.trajectory;
      const ranges = spansOf(row, true).flatMap(([begin, end]) => {
        const found: Range[] = [];
        for (let from = begin; from < end;) {
          let to = from;
          while (to < end && !isSpecial(tokenizer, tokens[to]!)) to++;
          if (to > from) found.push(...changed(tokenizer, [...tokens.subarray(from, to)], from));
          from = to + 1;
        }
        return found;
      });
      return ranges.length > 0 ? [{ row, tokens: ranges }] : [];
    });
    if (marked.length === 0) return undefined;
    return {
      message: `${marked.length} of ${known.length} trajectories hold sampled tokens whose ids change when their text is tokenized again. ${inTheLoss(known, marked)}: a trainer that goes through text gives them ratios and log-probabilities of other tokens. Pass ids from the sampler to the trainer.`,
      where: places(marked),
    };
  },
};

const special =
  "<\\|im_start\\|>(?:system|user|assistant|tool)\\n?|<\\|start_header_id\\|>[a-z]{1,20}<\\|end_header_id\\|>|<start_of_turn>(?:user|model)\\n?|\\[/?INST\\]|<\\|(?:system|user|assistant|observation)\\|>|<｜(?:User|Assistant)｜>";

/** What templates put before a turn. */
const turnHead = new RegExp(special, "g");

/** Where the marks of a pattern stand in what the model wrote. */
function inOwnText(row: TokenRow, find: (text: string) => Range[]): Marked[] {
  const { tokenizer, trajectory, tree } = row;
  if (!tokenizer) {
    // Ids that nobody reads have a text at most.
    const has = trajectory.nodes.some((node) => {
      const { kind, text } = tree.nodes[node]!;
      return kind === "model" && find(text).length > 0;
    });
    return has ? [{ row, tokens: [] }] : [];
  }
  const tokens = spansOf(row, true).flatMap(([from, to]) => {
    const { text, starts } = laidText(tokenizer, trajectory.tokens.subarray(from, to));
    return find(text).map(([a, b]): Range => {
      const [first, last] = tokensOf(starts, a, b);
      return [from + first, from + last];
    });
  });
  return tokens.length > 0 ? [{ row, tokens }] : [];
}

export const unwritten: FindingDefinition = {
  name: "unwritten",
  title: "Trained tokens that no model wrote",
  find: ({ rows }) => {
    const marked = rows.flatMap((row) => {
      const heads = inOwnText(row, (text) =>
        [...text.matchAll(turnHead)].map(({ 0: { length }, index }) => [index, index + length]),
      );
      const { logprobs, lossMask } = row.trajectory;
      // A sampler that gives log-probabilities gives one for each token that it drew.
      const isKnown = row.hasIds && logprobs.some((value) => !Number.isNaN(value));
      const silent: Range[] = [];
      for (let t = 0; isKnown && t < lossMask.length; t++) {
        if (lossMask[t] !== 1 || !Number.isNaN(logprobs[t]!)) continue;
        const from = t;
        while (t + 1 < lossMask.length && lossMask[t + 1] === 1 && Number.isNaN(logprobs[t + 1]!))
          t++;
        silent.push([from, t + 1]);
      }
      const ranges = merged([...heads.flatMap(({ tokens }) => tokens), ...silent]);
      return heads.length > 0 || ranges.length > 0 ? [{ row, tokens: ranges }] : [];
    });
    if (marked.length === 0) return undefined;
    return {
      message: `${marked.length} of ${rows.length} trajectories train tokens that the sampler did not draw: a template's words, or tokens without a log-probability among others that have one. ${inTheLoss(rows, marked)}. Take them out of the loss mask.`,
      where: places(marked),
    };
  },
};

const answerMarks = ["result", "tool_response", "information", "observation"];

/** Blocks of results in a text; each is looked for once, however many begin. */
function resultsIn(text: string): Range[] {
  return answerMarks.flatMap((mark) => {
    const [open, close] = [`<${mark}>`, `</${mark}>`];
    const found: Range[] = [];
    for (let at = text.indexOf(open); at >= 0;) {
      const end = text.indexOf(close, at);
      if (end < 0) break;
      found.push([at, end + close.length]);
      at = text.indexOf(open, end);
    }
    return found;
  });
}

/** Ranges in order, those that touch as one. */
function merged(ranges: readonly Range[]): Range[] {
  const out: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

export const trainedResults: FindingDefinition = {
  name: "trained-result",
  title: "Results that are trained",
  find: ({ rows }) => {
    const marked = rows
      .flatMap((row) => inOwnText(row, resultsIn))
      .map(({ row, tokens }) => ({ row, tokens: merged(tokens) }));
    if (marked.length === 0) return undefined;
    return {
      message: `${marked.length} of ${rows.length} trajectories have a tool's result among the tokens that are trained. ${inTheLoss(rows, marked)}: the policy learns to write results itself. Mask them.`,
      where: places(marked),
    };
  },
};

export const untoldMask: FindingDefinition = {
  name: "untold-mask",
  title: "The mask is not in the file",
  find: ({ rows }) => {
    const untold = rows.filter(({ hasMask }) => !hasMask);
    const marked = untold.flatMap((row): Marked[] => {
      const tokens = spansOf(row, false);
      return tokens.length > 0 ? [{ row, tokens }] : [];
    });
    if (marked.length === 0) return undefined;
    const own = marked.reduce((sum, { tokens }) => sum + count(tokens), 0);
    const all = untold.reduce((sum, { trajectory }) => sum + trajectory.tokens.length, 0);
    return {
      message: `Results are ${own} of ${all} tokens (${percent(own, all)}), in ${many(marked.length)}, and the file does not say which tokens are trained: here results count as masked. If the trainer's mask covers whole responses, that share of the loss trains results.`,
      where: places(marked),
    };
  },
};

/** The same head of a turn twice, or a head directly behind another; text without special tokens has role names. */
const twice = new RegExp(
  `(?:${special})\\s{0,4}(?:${special})|(?:^|\\n)(system|user|assistant)\\n\\1\\n|^(<s>|<bos>|<\\|begin_of_text\\|>)\\2`,
);

export const doubledTemplate: FindingDefinition = {
  name: "doubled-template",
  title: "Templates applied twice",
  find: ({ rows }) => {
    const prompts = new Map<TokenRow["tree"], boolean>();
    const marked = rows.flatMap((row): Marked[] => {
      const { tokenizer, tree, trajectory } = row;
      let inPrompt = prompts.get(tree);
      if (inPrompt === undefined) {
        const text = tokenizer ? laidText(tokenizer, tree.prompt.tokens).text : tree.prompt.text;
        inPrompt = twice.test(text) || twice.test(tree.prompt.text);
        prompts.set(tree, inPrompt);
      }
      const laid = tokenizer
        ? laidText(tokenizer, trajectory.tokens)
        : { text: trajectory.text, starts: [] };
      const found = twice.exec(laid.text);
      if (!found) return inPrompt ? [{ row, tokens: [] }] : [];
      if (!tokenizer) return [{ row, tokens: [] }];
      const { index } = found;
      return [{ row, tokens: [tokensOf(laid.starts, index, index + found[0].length)] }];
    });
    if (marked.length === 0) return undefined;
    const prompted = marked.filter(({ row }) => prompts.get(row.tree)).length;
    return {
      message: `${marked.length} of ${rows.length} trajectories have a turn's beginning twice, ${prompted} of them in the prompt: a chat template was applied to a text that had it already. Every token after it is conditioned on what the model will not see in use.`,
      where: places(marked),
    };
  },
};
