import { receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import type { InputAnswer } from "../contract/bridge.js";

/** Where answers to input arrive. */
export interface InputPort {
  on(event: "message", heard: (answer: InputAnswer) => void): unknown;
  off(event: "message", heard: (answer: InputAnswer) => void): unknown;
  unref(): void;
}

/** An answer that has arrived, for a thread that does not yield meanwhile. */
export function inputNow(port: InputPort): InputAnswer | undefined {
  return (
    receiveMessageOnPort(port as unknown as MessagePort) as { message: InputAnswer } | undefined
  )?.message;
}
