import { libraryHtml } from "../../../picture/packed-library.js";
import { currentHost, type KernelHost } from "../../host/host.js";

const carriers = new WeakMap<KernelHost, { cell: string | undefined; run: string }>();

/**
 * The library for one figure's HTML, or nothing where another figure of the notebook carries it
 * already: the first cell of a session that shows a figure does, once each time it runs.
 */
export function carriedLibrary(): string {
  const host = currentHost();
  const cell = host?.cell();
  if (host === undefined || cell === undefined) return libraryHtml();
  const carrier = carriers.get(host);
  const again = carrier?.cell !== undefined && carrier.cell === cell.cellId;
  if (carrier !== undefined && (!again || carrier.run === cell.id)) return "";
  carriers.set(host, { cell: cell.cellId, run: cell.id });
  return libraryHtml();
}
