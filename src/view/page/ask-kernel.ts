/** A line to the kernel, as the lab's page gives it. */
export interface Channel<T> {
  send(data: unknown): void;
  onMessage?: (data: T) => void;
  onClose?: () => void;
  insertCell?: (source: string, options?: { run?: boolean }) => void;
}

/** Asks the kernel that made the output; false where nobody hears. */
export function askKernel<T>(
  from: Element,
  target: string,
  connected: (channel: Channel<T>) => void,
): boolean {
  const detail = { target, connected };
  return !from.dispatchEvent(
    new CustomEvent("arpo-lab:connect", { bubbles: true, cancelable: true, detail }),
  );
}
