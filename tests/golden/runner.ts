/** Gives what the shipped code computes for one case's input, in the shape of its `expected`. */
// Inputs are JSON of a shape that each file describes for itself, so a runner states its own type.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Runner = (input: any) => unknown;

/** One runner per golden-case file's `name`. */
export type Runners = Record<string, Runner>;
