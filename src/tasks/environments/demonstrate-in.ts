import { makeEnvironment, methodOf } from "../../environments/environment.js";
import type { Random } from "../../base/random/random.js";
import type { Task } from "../task.js";
import { demonstrate, type Demonstration } from "../tasks/demonstrate.js";
import type { Corruption, TaskSet } from "../tasks/task-set.js";

/**
 * Lets the expert of a set act in its environment: the demonstration's prompt ends with what the
 * environment said, as a rollout's does.
 */
export async function demonstrateIn(
  set: Pick<TaskSet, "expert" | "environment">,
  task: Task,
  options: { random: Random; corruption?: Corruption; mostCalls?: number },
): Promise<Demonstration> {
  const { random, corruption, mostCalls = 64 } = options;
  const { signal } = new AbortController();
  const world = await makeEnvironment(set.environment!);
  try {
    const said = await world.reset(task, { random: random.split("environment"), signal });
    let calls = 0;
    const run = async (tag: string, input: string) => {
      const result = await methodOf(world, tag)(input, { signal, timeoutMs: 120_000, attempt: 0 });
      calls++;
      return typeof result === "string" ? result : result.text;
    };
    const over = () => world.done === true || calls >= mostCalls;
    const told = typeof said === "string" && said !== "" ? withSaid(task, said) : task;
    return await demonstrate(told, set.expert, run, { random, corruption, over });
  } finally {
    await world.dispose?.();
  }
}

function withSaid(task: Task, said: string): Task {
  const last = task.prompt.findLastIndex(({ role }) => role === "user");
  const prompt = task.prompt.map((message, i) =>
    i === last ? { ...message, content: `${message.content}\n${said}` } : message,
  );
  return { ...task, prompt };
}
