import { fileURLToPath } from "node:url";
import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "native/",
      "**/node_modules/",
      "data/",
      "docs/site/.pages/",
      "docs/site/.vitepress/cache/",
    ],
  },
  ...tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off", // typed arrays under noUncheckedIndexedAccess
      "@typescript-eslint/no-explicit-any": "error",
      "no-console": "error", // commands say things by apps/cli/terminal/say.ts
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
        tsconfigRootDir: fileURLToPath(new URL("..", import.meta.url)),
        projectService: {
          allowDefaultProject: ["examples/*.ts", "examples/own-task/*.ts", "examples/sample/*.ts"],
          maximumDefaultProjectFileMatchCount_THIS_WILL_SLOW_DOWN_LINTING: 12,
        },
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
      ...[
        "src/**/*.ts",
        "common/picture/**/*.ts",
        "common/platform/browser/**/*.ts",
        "apps/site/tab/**/*.ts",
      ],
      ...["kernel/{browser,compile,contract,display,host,run}/**/*.ts"],
    ],
    ignores: [
      ...[
        "**/*.test.ts",
        "**/testing/**",
        "src/doctor/**",
        "src/interop/job/**",
        "src/interop/ray/**",
        "src/interop/upload/**",
        "src/interop/verl/**",
        "src/interop/serve/**",
        "src/interop/capture/**",
        "src/base/watch/**",
      ],
      ...[
        "src/tools/python/pyodide-child.ts",
        "src/base/modules/hooks.ts",
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
      "tools/**",
      "docs/site/**",
      "docs/evidence/study/**",
      "apps/cli/terminal/say.ts",
      "apps/cli/**/*test*",
      "examples/**",
      "tests/**",
      "apps/cli/bin/**",
      ".ci/**",
    ],
    rules: { "no-console": "off" },
  },
);
