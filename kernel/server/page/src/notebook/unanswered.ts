const unanswered = /Canceled future for (debug|create_subshell)_request /;

/**
 * A kernel that is started again, or whose notebook is closed, answers nothing that was asked before. JupyterLab's
 * debugger asks after every cell, each comm asks for a subshell, and neither waits for its answer: each such question
 * would be an error of the page.
 */
export function forgetUnanswered(): void {
  addEventListener("unhandledrejection", (event) => {
    // What a subshell waits for ends with a text, and not with an error.
    const { reason } = event as { reason: unknown };
    if (unanswered.test(String(reason))) event.preventDefault();
  });
}
