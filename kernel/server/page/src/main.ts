import { byLine } from "./by-line/by-line.js";
import favicon from "./favicon.svg";
import { folder } from "./folder.js";
import { lessons } from "./lessons.js";
import { outputs } from "./outputs.js";
import { plotly } from "./plotly.js";
import { printedModel } from "./printed/model.js";
import { printedOutput } from "./printed/output.js";
import { resume } from "./resume.js";
import { saving } from "./saving.js";
import { share } from "./share.js";
import { site } from "./site.js";
import { stages } from "./stages.js";
import { values } from "./values/values.js";
import { EditorView } from "@codemirror/view";
import { type ExportMap, IJupyterWidgetRegistry } from "@jupyter-widgets/base";
import {
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
  JupyterLab,
} from "@jupyterlab/application";
import { Dialog, ICommandPalette, showDialog } from "@jupyterlab/apputils";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { JupyterPluginRegistry, PageConfig, URLExt } from "@jupyterlab/coreutils";
import { IMainMenu } from "@jupyterlab/mainmenu";
import { NotebookPanel } from "@jupyterlab/notebook";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { IConnectionStatus, IServiceManager } from "@jupyterlab/services";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { LabIcon } from "@jupyterlab/ui-components";
import { Widget } from "@lumino/widgets";
import { extensions, mimeExtensions } from "lab:extensions";
import "./lab.css";

const more =
  "Training and decoding take about two thirds of the time. Trees, log-probabilities and weights are then " +
  "this browser's own: no longer to the last bit what Node and other browsers give.";
const same = "Trees, log-probabilities and weights are then what Node gives, to the last bit.";
const again = " Everything is saved, the page loads again, and kernels start anew.";

/** A reader's choice between the same bits everywhere and more speed, where the page is a site. */
const arithmetic: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:arithmetic",
  autoStart: true,
  optional: [IMainMenu, ICommandPalette],
  activate: (app: JupyterFrontEnd, menu: IMainMenu | null, palette: ICommandPalette | null) => {
    if (site === undefined) return;
    const { possible, relaxed, choose } = site.arithmetic;
    const command = "arpo-lab:relaxed-arithmetic";
    const label = "Faster Arithmetic with Other Last Bits";
    app.commands.addCommand(command, {
      label,
      isToggleable: true,
      isToggled: () => relaxed,
      isEnabled: () => possible,
      execute: async () => {
        const { button } = await showDialog({
          title: relaxed ? "The same bits as everywhere" : label,
          body: (relaxed ? same : more) + again,
          buttons: [Dialog.cancelButton(), Dialog.okButton()],
        });
        if (!button.accept) return;
        await app.commands.execute("docmanager:save-all");
        choose(!relaxed);
        location.reload();
      },
    });
    palette?.addItem({ command, category: "Kernel Operations" });
    menu?.settingsMenu.addGroup([{ command }], 40);
  },
};

/** Gives editors a name that is read out; JupyterLab's have none. */
const editors: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:editors",
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app: JupyterFrontEnd, registry: IEditorExtensionRegistry) => {
    const named = EditorView.contentAttributes.of({ "aria-label": "Editor" });
    registry.addExtension({
      name: "arpo-lab:name",
      factory: () => EditorExtensionRegistry.createImmutableExtension(named),
    });
  },
};

const pages = [
  {
    command: "arpo-lab:documentation",
    label: "arpo-lab Documentation",
    address: "help/index.html",
  },
  {
    command: "arpo-lab:reference",
    label: "arpo-lab Reference",
    address: "help/reference/index.html",
  },
];

/** The package's own documentation, first in the help menu; its pages lie beside this one. */
const help: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:help",
  autoStart: true,
  optional: [IMainMenu, ICommandPalette],
  activate: (app: JupyterFrontEnd, menu: IMainMenu | null, palette: ICommandPalette | null) => {
    for (const { command, label, address } of pages) {
      app.commands.addCommand(command, {
        label,
        execute: () =>
          void window.open(URLExt.join(PageConfig.getBaseUrl(), address), "_blank", "noopener"),
      });
      palette?.addItem({ command, category: "Help" });
    }
    menu?.helpMenu.addGroup(
      pages.map(({ command }) => ({ command })),
      -1,
    );
  },
};

// A key that is pressed in a control of an output, a slider of a view say, is that control's: JupyterLab
// would take an arrow for a command and collapse the section of the notebook.

const controls = "input, select, textarea, button, summary, a[href], [tabindex], [contenteditable]";

/** Keys that lead out of a control, or are nobody's. */
const others = /^(Escape|Tab|F\d+|Shift|Control|Alt|Meta)$/;

function belongsToControl(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (ctrlKey || metaKey || altKey || others.test(key)) return false;
  if (shiftKey && key === "Enter") return false; // runs the cell
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  const control = target.closest(controls);
  // In a shadow the output is beyond what `closest` sees.
  const outer = event.target instanceof Element ? event.target : target;
  const output = outer.closest(".jp-OutputArea-output");
  return output !== null && control !== null && !control.contains(output);
}

/** JupyterLab listens at the document, above the body. */
function keepKeysInControls(): void {
  document.body.addEventListener("keydown", (event) => {
    if (belongsToControl(event)) event.stopPropagation();
  });
}

interface Language {
  name: string;
}

interface Panel {
  model: { getMetadata(key: string): Language | undefined } | null;
  _updateLanguage(language: Language): void;
}

/**
 * Opening a notebook is not changing it: what a kernel says of its language, such as Node's version on
 * this machine, is written into the file only where that names another language or none.
 */
const language: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:language",
  autoStart: true,
  activate: () => {
    const panel = NotebookPanel.prototype as unknown as Panel;
    const update = panel._updateLanguage;
    panel._updateLanguage = function (this: Panel, told: Language): void {
      if (this.model?.getMetadata("language_info")?.name !== told.name) update.call(this, told);
    };
  },
};

/** The lab's sign at the top left. */
const logo: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:logo",
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    const widget = new Widget();
    widget.id = "jp-MainLogo";
    const icon = new LabIcon({ name: "arpo-lab:logo", svgstr: favicon });
    icon.element({
      container: widget.node,
      elementPosition: "center",
      margin: "2px 8px",
      height: "auto",
      width: "16px",
    });
    app.shell.add(widget, "top", { rank: 0 });
  },
};

/**
 * A kernel that is started again answers nothing that was asked before. JupyterLab's debugger asks after
 * every cell and waits for it nowhere, so each such question would be an error of the page.
 */
function forgetUnanswered(): void {
  addEventListener("unhandledrejection", (event) => {
    const { reason } = event as { reason: unknown };
    if (reason instanceof Error && reason.message.startsWith("Canceled future for debug_request "))
      event.preventDefault();
  });
}

/** Lets the widget manager show what `widget` of `arpo-lab/kernel` makes, and anywidgets of Python. */
const widgets: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:widgets",
  autoStart: true,
  requires: [IJupyterWidgetRegistry],
  activate: (_app: JupyterFrontEnd, registry: IJupyterWidgetRegistry) => {
    // Made once: its views look for what its own models have set up.
    let made: Promise<ExportMap> | undefined;
    const make = async (): Promise<ExportMap> => {
      const [anywidget, base] = await Promise.all([
        import("anywidget"),
        import("@jupyter-widgets/base"),
      ]);
      return anywidget.default(base);
    };
    const exports = (): Promise<ExportMap> => (made ??= make());
    // Kernels ask for the line of versions that they were written for; the models of all are the same.
    for (const version of ["0.9.21", "0.10.0", "0.11.0"]) {
      registry.registerWidget({ name: "anywidget", version, exports });
    }
  },
};

// Starts the JupyterLab application with its extensions and ours.

/** What would ask other machines, or a server that has it, or is of no use here. */
const unwanted = new Set([
  "@jupyterlab/apputils-extension:announcements",
  "@jupyterlab/apputils-extension:licenses-plugin",
  "@jupyterlab/application-extension:pwa",
  "@jupyterlab/application-extension:logo",
]);

forgetUnanswered();
keepKeysInControls();
const registry = new JupyterPluginRegistry();
registry.registerPlugins(extensions.filter(({ id }) => !unwanted.has(id)));
registry.registerPlugins([
  arithmetic,
  byLine,
  editors,
  help,
  language,
  lessons,
  logo,
  outputs,
  printedModel,
  resume,
  saving,
  share,
  folder,
  stages,
  values,
  widgets,
]);
const serviceManager = await registry.resolveRequiredService(IServiceManager);
const connectionStatus = await registry.resolveOptionalService(IConnectionStatus);

const lab = new JupyterLab({
  pluginRegistry: registry,
  serviceManager,
  connectionStatus: connectionStatus ?? undefined,
  // Both forms are taken, one has a type.
  mimeExtensions: [
    ...mimeExtensions,
    plotly,
    printedOutput,
  ] as unknown as IRenderMime.IExtensionModule[],
  disabled: { matches: [], patterns: [] },
  deferred: { matches: [], patterns: [] },
  availablePlugins: [],
});
await lab.start({ bubblingKeydown: true });
// For tests and the curious.
const settingRegistry = await registry.resolveRequiredService(ISettingRegistry);
Object.assign(window, { jupyterapp: lab, settingRegistry });
