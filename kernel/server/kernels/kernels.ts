import type { KernelSpec } from "../../client/kernel-spec.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import type { Launch } from "./launched.js";
import { type KernelModel, RunningKernel } from "./running-kernel.js";

/** The kernels that run. */
export class Kernels {
  readonly #find: (name: string) => KernelSpec;
  readonly #launch: Launch;
  readonly #keep: number | undefined;
  readonly #kernels = new Map<string, RunningKernel>();

  /** `keep`: about how many bytes of a running cell's output each kernel keeps. */
  constructor(find: (name: string) => KernelSpec, launch: Launch, keep?: number) {
    this.#launch = launch;
    this.#find = find;
    this.#keep = keep;
  }

  get list(): KernelModel[] {
    return [...this.#kernels.values()].map((kernel) => kernel.model);
  }

  get(id: string): RunningKernel {
    const kernel = this.#kernels.get(id);
    if (kernel === undefined) throw new ErrorResponse(404, `Kernel does not exist: ${id}`);
    return kernel;
  }

  has(id: string): boolean {
    return this.#kernels.has(id);
  }

  async start(
    name: string,
    folder: string,
    env: Record<string, string> = {},
  ): Promise<RunningKernel> {
    let spec: KernelSpec;
    try {
      spec = this.#find(name);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ErrorResponse(error instanceof RangeError ? 404 : 500, message, { cause: error });
    }
    const environment = { ...spec.env, ...env };
    const kernel = new RunningKernel(
      { ...spec, env: environment },
      folder,
      this.#launch,
      this.#keep,
    );
    await kernel.start();
    this.#kernels.set(kernel.id, kernel);
    return kernel;
  }

  async shutdown(id: string): Promise<void> {
    const kernel = this.get(id);
    this.#kernels.delete(id);
    await kernel.shutdown();
  }

  async shutdownAll(): Promise<void> {
    await Promise.all([...this.#kernels.keys()].map((id) => this.shutdown(id)));
  }

  /** Ends kernels that nobody is connected to and that did nothing for a while. */
  async cull(idle: number): Promise<string[]> {
    const ids = this.list
      .filter((k) => k.connections === 0 && k.execution_state !== "busy")
      .filter((k) => Date.now() - Date.parse(k.last_activity) > idle)
      .map((k) => k.id);
    await Promise.all(ids.map((id) => this.shutdown(id)));
    return ids;
  }
}
