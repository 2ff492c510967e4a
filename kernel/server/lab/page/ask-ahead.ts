/**
 * Runs in the page before its scripts are there: asks for what they will ask first, so that the answers
 * come while they are loaded. Each answer is used once.
 */
export function askAhead(paths: string[], limit: number): void {
  const ask = globalThis.fetch;
  const asked = new Map<string, Promise<Response | undefined>>();
  for (const path of paths) {
    const answer = ask(path, { cache: "no-store", credentials: "same-origin" });
    // What went wrong is asked again, and told then.
    asked.set(
      path,
      answer.then(
        (response) => (response.ok ? response : undefined),
        () => undefined,
      ),
    );
  }
  const until = performance.now() + limit;
  globalThis.fetch = async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    const url = input instanceof Request ? input.url : String(input);
    // JupyterLab adds the time to every address.
    const path = url.replace(location.origin, "").replace(/[?&]\d{13}$/, "");
    const answer = method === "GET" ? asked.get(path) : undefined;
    // What comes after a change must not be older than it.
    if (method !== "GET") asked.clear();
    asked.delete(path);
    if (answer !== undefined && performance.now() < until) {
      const response = await answer;
      if (response !== undefined) return response;
    }
    return await ask(input, init);
  };
}
