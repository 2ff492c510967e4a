import { Session, type InspectorNotification } from "node:inspector";

/**
 * The inspector of the thread that runs cells. It answers while that thread computes, and while it stands
 * at a breakpoint. Connecting waits for that thread, so it is done before there is anything to run.
 */
export class MainInspector {
  readonly #session = new Session();

  constructor() {
    this.#session.connectToMainThread();
  }

  async post<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    return await new Promise<Result>((resolve, reject) => {
      this.#session.post(method, params, (error, result) => {
        if (error === null) resolve(result as Result);
        else reject(new Error(error.message));
      });
    });
  }

  on<Params>(event: string, listener: (params: Params) => void): void {
    this.#session.on(event, ({ params }: InspectorNotification<Params>) => listener(params));
  }

  off(event: string): void {
    this.#session.removeAllListeners(event);
  }

  /**
   * Before the process ends, which would otherwise wait for a debugger to leave. A thread that stands
   * continues.
   */
  close(): void {
    this.#session.disconnect();
  }
}
