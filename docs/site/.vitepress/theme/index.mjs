import Theme from "vitepress/theme-without-fonts";
import Explorer from "./Explorer.vue";
import "./style.css";

export default {
  extends: Theme,
  enhanceApp: ({ app }) => void app.component("Explorer", Explorer),
};
