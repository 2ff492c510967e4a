// Starts the JupyterLab application with its extensions and ours.
import { JupyterLab } from "@jupyterlab/application";
import { JupyterPluginRegistry } from "@jupyterlab/coreutils";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { IConnectionStatus, IServiceManager } from "@jupyterlab/services";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { extensions, mimeExtensions } from "lab:extensions";
import "./lab.css";
import { agents } from "./agents/agents.js";
import { arithmetic, help, share } from "./menus.js";
import { byLine } from "./by-line/by-line.js";
import { editors, hover, keepKeysInControls, language } from "./notebook/editing.js";
import { folder } from "./folder.js";
import { problems } from "./notebook/problems.js";
import { lessons } from "./notebook/lessons.js";
import { logo, narrow } from "./layout.js";
import { outputs } from "./outputs/outputs.js";
import { plotly } from "./outputs/plotly.js";
import { printedModel } from "./outputs/printed/model.js";
import { printedOutput } from "./outputs/printed/output.js";
import { resetLesson } from "./notebook/reset-lesson.js";
import { resume } from "./notebook/resume.js";
import { saving } from "./notebook/saving.js";
import { stages } from "./notebook/stages.js";
import { stale } from "./notebook/stale.js";
import { forgetUnanswered } from "./notebook/unanswered.js";
import { values } from "./values/values.js";
import { widgets } from "./outputs/widgets.js";

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
  agents,
  arithmetic,
  byLine,
  editors,
  help,
  hover,
  language,
  lessons,
  logo,
  narrow,
  outputs,
  printedModel,
  problems,
  resetLesson,
  resume,
  saving,
  share,
  folder,
  stages,
  stale,
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
// Ends clicks on `data-commandlinker-command`: notebooks can have them, and nothing of the page's own does.
lab.commandLinker.dispose();
await lab.start({ bubblingKeydown: true });
// For tests and the curious.
const settingRegistry = await registry.resolveRequiredService(ISettingRegistry);
Object.assign(window, { jupyterapp: lab, settingRegistry });
