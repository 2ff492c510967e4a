// What the page does to packages that are not its own, and what it uses of theirs that has no public
// name. The build stops where one of them is no longer as it is here.

/** The text with `from` replaced; undefined where it is not there. */
const replaced = (text, from, to) => {
  const found = typeof from === "string" ? text.includes(from) : from.test(text);
  return found ? text.replace(from, to) : undefined;
};

/** With splitting, a dynamic import of CommonJS gives only `default`: its names are put back. */
function withNames(text) {
  const dynamic = /\bimport\(\s*((?:\/\*[\s\S]*?\*\/\s*)?)(['"])([^'".][^'"]*)\2\s*\)/g;
  const changed = text.replace(
    dynamic,
    (_, _comment, quote, name) => `import(${quote}${name}${quote}).then(__names)`,
  );
  const helper = `
function __names(m) {
  const keys = Object.keys(m);
  if (keys.length !== 1 || keys[0] !== "default" || m.default == null) return m;
  const inner = m.default;
  return Object.assign({}, inner, { default: inner.__esModule ? inner.default : inner });
}`;
  return changed === text ? text : changed + helper;
}

/** Changes to compiled files, the first that fits a file's path; each says why. */
export const patches = [
  {
    // The controls are fetched by a function of webpack's; here a widget that asks for them imports them.
    file: /jupyterlab-manager[\\/]lib[\\/]plugin\.js$/,
    change: (text) =>
      replaced(
        text,
        /return new Promise\(\(resolve, reject\) => \{\s*require\.ensure\([\s\S]*?\n {16}\}\);/,
        'return import("@jupyter-widgets/controls");',
      ),
  },
  {
    // What comes with a notebook triggers no command and sends no form (main.ts ends what would hear it), and leads
    // the page nowhere else: links open in another tab, the areas of an image map would not.
    file: /[\\/]@jupyterlab[\\/]apputils[\\/]lib[\\/]sanitizer\.js$/,
    change: (text) => {
      const commands = /\.\.\.\(this\._allowCommandLinker\s*\? \[[^\]]*\]\s*: \[\]\),/;
      const changed = [commands, /'form',\s*/, /'area',\s*/, /'map',\s*/].reduce(
        (before, what) => (before === undefined ? undefined : replaced(before, what, "")),
        /** @type {string | undefined} */ (text),
      );
      return changed === undefined ? undefined : withNames(changed);
    },
  },
  {
    // A new notebook is for the kernel that was chosen last, this package's own at first, and not for the first by
    // name, nor for another kernel of the same language.
    file: /[\\/]@jupyterlab[\\/]apputils[\\/]lib[\\/]sessioncontext\.js$/,
    change: (text) => {
      const before = "sorted.sort((a, b) => a.display_name.localeCompare(b.display_name));";
      const kept = 'localStorage.getItem("arpo-lab:kernel")';
      const first = `const proposed = [preference.name, ${kept}, specs.default].find((name) => name in languages);`;
      const after = before.replace("=> ", "=> (b.name === proposed) - (a.name === proposed) || ");
      const changes = [
        [before, `${first} ${after}`],
        ["_f.name] : '');", "_f.name] : (languages[proposed] ?? ''));"],
        [
          "const model = result.value;",
          'const model = result.value; if (model?.name) localStorage.setItem("arpo-lab:kernel", model.name);',
        ],
      ];
      const changed = changes.reduce(
        (made, [from, to]) => (made === undefined ? undefined : replaced(made, from, to)),
        /** @type {string | undefined} */ (text),
      );
      return changed === undefined ? undefined : withNames(changed);
    },
  },
  {
    // Written for an AMD loader, which the page has not.
    file: /[\\/]anywidget[\\/]dist[\\/]index\.js$/,
    change: (text) =>
      replaced(
        text,
        'define(["@jupyter-widgets/base"], widget_default);',
        "export default widget_default;",
      ),
  },
  {
    // A file that an address names was opened only when the workspace had been saved, which waits until
    // nothing has changed for half a second.
    file: /[\\/]@jupyterlab[\\/]apputils-extension[\\/]lib[\\/]index\.js$/,
    change: (text) => {
      const waits =
        "// After the state database has finished loading, save it.\n                await save";
      const changed = replaced(text, waits, waits.replace("await", "void"));
      return changed === undefined ? undefined : withNames(changed);
    },
  },
  {
    // A cell that is run before its notebook has a kernel started a second one, which ended the first: the
    // cell showed nothing. It waits for the one that is on its way.
    file: /[\\/]@jupyterlab[\\/]notebook[\\/]lib[\\/]cellexecutor\.js$/,
    change: (text) => {
      const starts = "if (sessionContext.hasNoKernel) {\n                    const shouldSelect";
      const waits =
        "if (sessionContext.kernelDisplayStatus === 'initializing') await sessionContext.ready;\n                ";
      const changed = replaced(text, starts, `${waits}${starts}`);
      return changed === undefined ? undefined : withNames(changed);
    },
  },
  {
    // Of a kernel without a debugger it asks for modules after every cell, and threw.
    file: /[\\/]@jupyterlab[\\/]debugger[\\/]lib[\\/]service\.js$/,
    change: (text) => {
      const asks =
        "async displayModules() {\n        if (!this.session) {\n            throw new Error('No active debugger session');";
      const changed = replaced(text, asks, asks.replace(/throw.*$/, "return;"));
      return changed === undefined ? undefined : withNames(changed);
    },
  },
  {
    // A connection that is made again says how many messages came over those before, so that the server
    // sends what was lost, and nothing twice.
    file: /[\\/]@jupyterlab[\\/]services[\\/]lib[\\/]kernel[\\/]default\.js$/,
    change: (text) => {
      const session = "'channels?session_id=' + encodeURIComponent(this._clientId)";
      const counts = "this._onWSMessage = (evt) => {";
      const asks = replaced(text, session, `${session} + '&had=' + (this._had ?? 0)`);
      if (asks === undefined) return undefined;
      return replaced(asks, counts, `${counts} this._had = (this._had ?? 0) + 1;`);
    },
  },
  {
    // JupyterLab makes a cell, and its history, before it puts the cell into its notebook; a warning for each of a
    // hundred reads hid the page's own.
    file: /[\\/]yjs[\\/]dist[\\/]yjs\.mjs$/,
    change: (text) => {
      const early = /const warnPrematureAccess = \(\) => \{.*\};/;
      const quiet = replaced(text, early, "const warnPrematureAccess = () => {};");
      if (quiet === undefined) return undefined;
      const other = "ytype.doc !== this.doc : ytype";
      return replaced(quiet, other, `ytype.doc != null && ${other}`);
    },
  },
  { file: /[\\/]@jupyterlab[\\/][^\\/]+[\\/]lib[\\/].*\.js$/, change: withNames },
];

/** What we use that JupyterLab keeps to itself; each says for what. */
export const privateMembers = [
  {
    // A cell that runs by line is not JupyterLab's to debug.
    file: "@jupyterlab/debugger/lib/session.js",
    members: ["this._handleEvent,", "_handleEvent(sender, message)"],
    user: "src/by-line/hidden.ts",
  },
  {
    // Opening a notebook is not changing it: Node's version on this machine is not written into it.
    file: "@jupyterlab/notebook/lib/panel.js",
    members: ["_updateLanguage("],
    user: "src/notebook/editing.ts",
  },
  {
    // A run that another page began is taken up: a connection has no public way to add a future.
    file: "@jupyterlab/services/lib/kernel/default.js",
    members: ["this._futures"],
    user: "src/notebook/resume.ts",
  },
  {
    // The class of such a future is not exported by the package, only by its file.
    file: "@jupyterlab/services/lib/kernel/future.js",
    members: ["class KernelShellFutureHandler"],
    user: "src/notebook/resume.ts",
  },
  {
    // What is printed for a message of an output goes below that output, as what its cell prints does.
    file: "@jupyterlab/outputarea/lib/widget.js",
    members: ["this._onIOPub"],
    user: "src/outputs/outputs.ts",
  },
  {
    // Printed text is added to the end of what is there instead of being compared with all of it.
    file: "@jupyterlab/outputarea/lib/model.js",
    members: ["_add(", "this._lastStreamName", "this._streamIndex"],
    user: "src/outputs/printed/model.ts",
  },
];
