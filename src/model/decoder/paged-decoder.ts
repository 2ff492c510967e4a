import { checkStep } from "./check-step.js";
import type { Decoder, Sampled, Step } from "./decoder.js";
import { type Extension, Pages } from "./pages.js";
import type { DecoderShape } from "./weights.js";

/**
 * The accounts of a decoder: which sequence has which pages, what is shared, what must be copied before it is
 * written. Weights, cache and arithmetic are those of the class that extends it.
 */
export abstract class PagedDecoder implements Decoder {
  readonly vocabSize: number;
  readonly contextLength: number;
  rounded?: Decoder["rounded"];
  protected readonly pages: Pages;

  /** `released` hears of every page that no sequence uses any more. */
  constructor(
    protected readonly shape: DecoderShape,
    released?: (page: number) => void,
  ) {
    this.vocabSize = shape.vocabSize;
    this.contextLength = shape.contextLength;
    this.pages = new Pages(released);
  }

  abstract step(...step: Step): Sampled | Promise<Sampled>;
  abstract bytes(): number;
  abstract dispose(): void;
  /** Takes up the weights of now. */
  protected abstract reload(): void;
  protected abstract readonly disposed: boolean;

  open(): number {
    this.alive();
    return this.pages.open();
  }

  fork(sequence: number): number {
    return this.pages.fork(sequence);
  }

  truncate(sequence: number, length: number): void {
    this.pages.truncate(sequence, length);
  }

  close(sequence: number): void {
    this.pages.close(sequence);
  }

  length(sequence: number): number {
    return this.pages.length(sequence);
  }

  refresh(): void {
    this.alive();
    const { sequences } = this.pages;
    if (sequences > 0) {
      throw new Error(
        `Cannot refresh the weights: no sequence may be open, got ${sequences} open sequences`,
      );
    }
    this.reload();
  }

  protected alive(): void {
    if (this.disposed) throw new Error("Cannot decode: the decoder has been disposed of");
  }

  /** Room for a step's tokens, after a look at its parts: nothing has changed until `commit`. */
  protected extend(...[sequences, tokens, offsets, sampling]: Step): Extension[] {
    this.alive();
    checkStep({ sequences, tokens, offsets, sampling }, this, (sequence) => this.length(sequence));
    return Array.from(sequences, (sequence, i) =>
      this.pages.extend(sequence, offsets[i + 1]! - offsets[i]!),
    );
  }

  protected commit(extensions: readonly Extension[]): void {
    for (const extension of extensions) this.pages.commit(extension);
  }

  protected rollBack(extensions: readonly Extension[]): void {
    for (const extension of extensions) this.pages.rollBack(extension);
  }
}
