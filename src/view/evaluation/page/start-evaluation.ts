import { openExplorers } from "../../explorer/page/start-explorer.js";
import { starter } from "../../page/start-view.js";

/** Brings a report to life: questions open their explorers when they are opened, and can be chosen. */
export const startEvaluation = starter(undefined, (root, _payload, _palette, colours) => {
  const questions = [...root.querySelectorAll<HTMLDetailsElement>("details[data-question]")];
  openExplorers(questions, colours);
  const choice = root.querySelector<HTMLSelectElement>("select[data-choice]");
  const count = root.querySelector<HTMLOutputElement>("output[data-count]");
  const choose = () => {
    let shown = 0;
    for (const question of questions) {
      const fits =
        choice?.value === "all" ||
        (question.dataset["is"] ?? "").split(" ").includes(choice!.value);
      question.hidden = !fits;
      if (fits) shown++;
    }
    if (count) count.value = `${shown} of ${questions.length} questions`;
  };
  if (!choice) return;
  choice.disabled = false;
  choice.addEventListener("change", choose);
  choose();
});
