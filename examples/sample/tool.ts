// The tool: the model writes <python>35-13*2</python>, and reads the value between <result> tags.
// The small model of the package calls its calculator so. Another model is told of the tool by its description.
import { calculator, type Tool } from "arpo-lab/tools";

const arithmetic = calculator();

const tool: Tool = {
  name: "calculator",
  tag: "python",
  description: "Evaluates arithmetic such as 35 - 13 * 2.",
  execute(input, call) {
    // An answer that the model can read, not a failure of the tool.
    if (input.length > 200) return "Error: at most 200 characters";
    return arithmetic.execute(input, call);
  },
};
export default tool;
