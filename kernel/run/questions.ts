/** Makes `prompt`, `confirm` and `alert` ask the person at the front end; Node has none of them. */
export function askByPrompt(ask: (message: string) => string): void {
  const questions = {
    prompt(message = "Prompt", defaultValue = ""): string | null {
      const shown = defaultValue === "" ? message : `${message} [${defaultValue}] `;
      return ask(String(shown)) || String(defaultValue);
    },
    confirm: (message = "Confirm"): boolean => /^y(es)?$/i.test(ask(`${message} [y/N] `).trim()),
    alert(message = "Alert"): void {
      ask(`${message} [Enter] `);
    },
  };
  for (const [name, value] of Object.entries(questions)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}
