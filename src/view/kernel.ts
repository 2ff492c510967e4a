/** What a view needs of the kernel it may run in. */
interface ViewHost {
  display(bundle: Record<string, unknown>, options: { id: string; update: boolean }): void;
  cell(): { readonly id: string } | undefined;
  comms?: {
    register(target: string, opened: (comm: ViewComm) => void): void;
  };
}

/** A line to the page. */
export interface ViewComm {
  send(data: Record<string, unknown>): void;
  onMessage?: (message: { data: Record<string, unknown> }) => void | Promise<void>;
}

/**
 * The kernel this code runs in; undefined in a plain program. It is found by its well-known symbol, so
 * that the toolkit needs none of the kernel's code.
 */
export function viewHost(): ViewHost | undefined {
  return (globalThis as { [key: symbol]: ViewHost | undefined })[
    Symbol.for("arpo-lab.kernel.host")
  ];
}
