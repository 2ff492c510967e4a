/** Means of named figures that come in parts. */
export class MetricMeans {
  readonly #sums = new Map<string, { sum: number; count: number }>();

  add(name: string, value: number): void {
    const entry = this.#sums.get(name) ?? { sum: 0, count: 0 };
    entry.sum += value;
    entry.count++;
    this.#sums.set(name, entry);
  }

  values(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, { sum, count }]) => [name, sum / count]));
  }
}
