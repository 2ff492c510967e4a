import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "native/", "node_modules/", "data/"] },
  ...tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off", // typed arrays under noUncheckedIndexedAccess
      "@typescript-eslint/no-explicit-any": "error",
      "no-console": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ["scripts/**", "cli/**", "bench/**", "tests/**", "bin/**", ".ci/**"],
    rules: { "no-console": "off" },
  },
);
