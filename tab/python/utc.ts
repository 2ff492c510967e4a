/** Makes the clock of this thread Greenwich's, wherever the reader is: Python's processes have it, too. */
export function useUtc(): void {
  const dates = Date.prototype as unknown as Record<string, unknown>;
  const parts = ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"];
  for (const part of parts) dates[`get${part}`] = dates[`getUTC${part}`];
  dates["getTimezoneOffset"] = () => 0;
  globalThis.Date = new Proxy(Date, {
    construct: (target, values: unknown[]) =>
      values.length < 2
        ? (Reflect.construct(target, values) as Date)
        : new target(target.UTC(...(values as Parameters<typeof Date.UTC>))),
  });
}
