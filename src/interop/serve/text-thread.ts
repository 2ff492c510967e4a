import { parentPort, workerData } from "node:worker_threads";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { TokenizerFiles } from "../../model/tokenizer/tokenizer-files.js";
import type { TextDone, TextTask } from "./text-work.js";

const tokenizer = new HfTokenizer(workerData as TokenizerFiles);
const say = (done: TextDone): void => parentPort!.postMessage(done);

parentPort!.on("message", (task: TextTask & { id: number }) => {
  const { id } = task;
  try {
    const value =
      "encode" in task
        ? tokenizer.encodeParts(task.encode)
        : tokenizer.chatParts(task.chat, task.options);
    say({ id, value });
  } catch (error) {
    say({ id, failed: (error as Error).message });
  }
});
