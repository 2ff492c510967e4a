import { element } from "../../../page/element.js";

/** A button that opens a menu below it; Escape and a press elsewhere close it. */
export function popover(button: HTMLButtonElement, menu: HTMLElement, name: string): HTMLElement {
  menu.hidden = true;
  menu.classList.add("ax-menu");
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", name);
  button.setAttribute("aria-expanded", "false");
  const box = element("span", { class: "ax-popover" }, button, menu);
  const show = (isOpen: boolean) => {
    menu.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      document.addEventListener("pointerdown", elsewhere, true);
      menu.querySelector<HTMLElement>("button, select, input")?.focus();
    } else document.removeEventListener("pointerdown", elsewhere, true);
  };
  const elsewhere = ({ target }: Event) => {
    if (!box.contains(target as Node)) show(false);
  };
  button.onclick = () => show(menu.hidden !== false);
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget as Node)) show(false);
  });
  box.addEventListener("close-menu", () => show(false));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.hidden) return;
    event.preventDefault();
    event.stopPropagation();
    show(false);
    button.focus();
  });
  return box;
}
