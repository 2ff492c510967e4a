/** Follows the page when it changes between light and dark, as long as the view is on it. */
export function followTheme(root: HTMLElement, changed: () => void): void {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(follow);
  function follow(): void {
    if (root.isConnected) {
      changed();
      return;
    }
    observer.disconnect();
    query.removeEventListener("change", follow);
  }
  const attributes = [
    "class",
    "style",
    "data-theme",
    "data-jp-theme-light",
    "data-vscode-theme-kind",
  ];
  for (const watched of [document.documentElement, document.body]) {
    observer.observe(watched, { attributes: true, attributeFilter: attributes });
  }
  query.addEventListener("change", follow);
}
