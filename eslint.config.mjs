import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "native/",
      "**/node_modules/",
      "data/",
      "docs-site/.pages/",
      "docs-site/.vitepress/cache/",
    ],
  },
  ...tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off", // typed arrays under noUncheckedIndexedAccess
      "@typescript-eslint/no-explicit-any": "error",
      "no-console": "error", // commands say things by cli/terminal/say.ts
      "object-shorthand": ["error", "properties"],
      "no-useless-rename": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // A kernel of threads and promises: one that nobody waits for is a fault that nobody sees.
    files: ["**/*.ts"],
    ignores: ["kernel/server/page/**"],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["examples/*.ts", "examples/own-task/*.ts"] },
      },
    },
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          // Node's runner waits for what it was given.
          allowForKnownSafeCalls: [
            {
              from: "package",
              package: "node:test",
              name: ["test", "after", "afterEach", "before", "beforeEach", "describe", "it"],
            },
          ],
        },
      ],
      "@typescript-eslint/no-misused-promises": "error",
    },
  },
  {
    // What runs in a browser tab as well asks for `#platform/…`; docs/tab.md says what is where.
    files: [
      ...["src/**/*.ts", "picture/**/*.ts", "platform/browser/**/*.ts", "tab/**/*.ts"],
      ...["kernel/{browser,compile,contract,display,host,run}/**/*.ts"],
    ],
    ignores: [
      ...[
        "**/*.test.ts",
        "**/testing/**",
        "src/doctor/**",
        "src/scale/job/**",
        "src/scale/ray/**",
        "src/scale/upload/**",
        "src/scale/verl/**",
        "src/serve/**",
        "src/capture/**",
        "src/watch/**",
      ],
      ...[
        "src/tools/python/pyodide-child.ts",
        "src/modules/hooks.ts",
        "kernel/compile/thread.ts",
        "kernel/host/cache-folder.ts",
      ],
    ],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["node:*"], message: "Ask for #platform/…: see docs/tab.md." }] },
      ],
      "no-restricted-globals": [
        "error",
        ...["process", "Buffer", "setImmediate", "global"].map((name) => ({
          name,
          message: "Node's alone: ask for #platform/…, see docs/tab.md.",
        })),
      ],
    },
  },
  {
    files: [
      "scripts/**",
      "docs-site/**",
      "cli/terminal/say.ts",
      "cli/**/*test*",
      "bench/**",
      "examples/**",
      "tests/**",
      "bin/**",
      ".ci/**",
    ],
    rules: { "no-console": "off" },
  },
);
