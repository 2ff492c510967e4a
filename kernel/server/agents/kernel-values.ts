import { utf8Bytes, utf8Text } from "#platform/bytes";
import { later } from "#platform/process";
import { randomUUID } from "#platform/uuid";
import type { Json } from "../../../common/http-server/body.js";
import { ErrorResponse } from "../../../common/http-server/error-response.js";
import { PROTOCOL_VERSION } from "../../wire/message.js";
import type { Frames } from "../kernels/codec.js";
import type { Listener } from "../kernels/listener.js";
import type { RunningKernel } from "../kernels/running-kernel.js";

/** How long a kernel may take to answer: one whose cell computes without a pause does not. */
const patience = 10_000;

const json = (value: unknown): Uint8Array => utf8Bytes(JSON.stringify(value));
const read = (bytes: Uint8Array): Json => JSON.parse(utf8Text(bytes)) as Json;

/** Asks a kernel about its session's values, over a comm of its own, as the lab's values panel does. */
export async function askValues(
  kernel: RunningKernel,
  data: Json,
  wait: number = patience,
): Promise<Json> {
  const comm = randomUUID();
  const session = randomUUID();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let listener: Listener | undefined;
  const send = async (from: Listener, msg_type: string, content: Json): Promise<void> => {
    const header = {
      ...{ msg_id: randomUUID(), msg_type, session, username: "agent" },
      ...{ date: new Date().toISOString(), version: PROTOCOL_VERSION },
    };
    const parts = { header: json(header), parent: json({}), metadata: json({}) };
    await kernel.send({ channel: "shell", ...parts, content: json(content), buffers: [] }, from);
  };
  try {
    return await new Promise<Json>((answer, failed) => {
      const refuse = (status: number, why: string): void =>
        failed(new ErrorResponse(status, `Cannot read the session's values: ${why}`));
      const receive = ({ channel, header, content }: Frames): void => {
        if (channel !== "iopub") return;
        const { msg_type } = read(header);
        if (msg_type !== "comm_msg" && msg_type !== "comm_close") return;
        const told = read(content);
        if (told["comm_id"] !== comm) return;
        if (msg_type === "comm_msg") answer(told["data"] as Json);
        else refuse(409, `kernel ${kernel.spec.name} does not list them`);
      };
      const close = (): void => refuse(409, "the kernel was shut down");
      const asking = (listener = { connected: false, receive, close });
      kernel.listeners.add(asking);
      const busy = "the kernel is busy; ask again when its cell has ended";
      timer = later(() => refuse(409, busy), wait);
      void send(asking, "comm_open", { comm_id: comm, target_name: "arpo-lab.values", data: {} })
        .then(() => send(asking, "comm_msg", { comm_id: comm, data }))
        .catch((error: unknown) => refuse(409, String(error)));
    });
  } finally {
    clearTimeout(timer);
    if (listener !== undefined) {
      await send(listener, "comm_close", { comm_id: comm, data: {} }).catch(() => undefined);
      kernel.forget(listener);
    }
  }
}
