/** Something that is told a step's metrics. */
export interface Logger {
  readonly name: string;
  log(step: number, metrics: Readonly<Record<string, number>>): void | Promise<void>;
  close?(): void | Promise<void>;
}
