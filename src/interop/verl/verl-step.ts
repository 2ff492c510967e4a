/** A step of a run on verl. */
interface VerlStep {
  step: number;
  metrics: Record<string, number>;
}

// Ray puts the process that spoke before the line; NumPy's numbers say what they are.
const line = /(?:^|\s)step:(\d+) - (.+)$/;
const figure = /^(.+?):(?:np\.\w+\()?(-?\d[\d.]*(?:e[+-]?\d+)?)\)?$/;

/** What a line of verl's console logger says, if it is one; figures that are not numbers are left out. */
export function verlStep(text: string): VerlStep | undefined {
  const [, step, rest] = line.exec(text) ?? [];
  if (step === undefined || rest === undefined) return undefined;
  const metrics: Record<string, number> = {};
  for (const part of rest.split(" - ")) {
    const [, name, value] = figure.exec(part.trim()) ?? [];
    if (name !== undefined) metrics[name] = Number(value);
  }
  return Object.keys(metrics).length > 0 ? { step: Number(step), metrics } : undefined;
}
