/** What decides where an objective clips. */
export interface ClipOptions {
  /** How far the ratio may move from 1 on either side. Default: 0.2. */
  clipRatio?: number;
  /** How far below 1 the ratio may fall; `clipRatio` when unset. */
  clipRatioLow?: number;
  /** How far above 1 the ratio may rise; `clipRatio` when unset. */
  clipRatioHigh?: number;
  /** Dual clip: bounds the loss of tokens with a negative advantage and a large ratio. Default: 3. */
  clipRatioC?: number;
}

/** Where ratios are clipped. */
export interface ClipBounds {
  low: number;
  high: number;
  /** Beyond it the dual clip drops tokens with a negative advantage. */
  c: number;
}

/**
 * Where an objective clips its ratios: the one place that says so, for losses, reports, views and the
 * doctor alike.
 */
export function clipBounds(options: ClipOptions): ClipBounds {
  const { clipRatio = 0.2, clipRatioC: c = 3 } = options;
  const low = 1 - (options.clipRatioLow ?? clipRatio);
  const high = 1 + (options.clipRatioHigh ?? clipRatio);
  if (!(c > 1)) throw new RangeError(`Cannot clip: clipRatioC must be greater than 1, got ${c}`);
  if (!(low <= 1 && high >= 1)) {
    throw new RangeError(
      `Cannot clip: clip ratios must not be negative, got bounds ${low} to ${high}`,
    );
  }
  return { low, high, c };
}
