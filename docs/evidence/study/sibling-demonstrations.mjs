import { demonstrate, Random, tasks, taskTools } from "arpo-lab";
import { siblingPrompts } from "arpo-lab/experimental/learn";
import { createWorld } from "../../../dist/src/tasks/tasks/world.js";

/**
 * Demonstrations that make a policy which errs and reads what stands before a question: every question of twelve other
 * worlds as it is, with an expert who errs, and behind SDPO's prompt with a right demonstration, answered without errors.
 */
export async function siblingDemonstrations(family) {
  const list = [];
  for (let w = 0; w < 12; w++) {
    const other = createWorld(5000 + w);
    const tools = taskTools(other);
    const set = tasks[family]({ seed: w, train: 88, test: 1, world: other });
    const call = async (tag, input) => (await tools.call(tag, input)).text;
    for (const [i, task] of set.train.entries()) {
      const random = Random.from(3).split(w).split(i);
      const right = await demonstrate(task, set.expert, call, { random });
      const corruption = { decisions: 0.35 };
      list.push(await demonstrate(task, set.expert, call, { random, corruption }));
      const completion = right.segments.map(({ text }) => text).join("");
      const row = { prompt: right.task.prompt, group: 0, completion, reward: 1 };
      const [prompt] = siblingPrompts([row], { oneself: true });
      list.push({ ...right, task: { ...right.task, prompt } });
    }
    await tools.dispose();
  }
  return Random.from(1).shuffle(list);
}
