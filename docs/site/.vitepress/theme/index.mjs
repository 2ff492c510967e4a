import Theme from "vitepress/theme-without-fonts";
import Loop from "./Loop.vue";
import "./style.css";

export default {
  extends: Theme,
  enhanceApp: ({ app }) => void app.component("Loop", Loop),
};
