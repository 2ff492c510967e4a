"""jupyter_kernel_test against the installed arpo-lab kernel: every test it has, none skipped.

Run with a Python that has jupyter_kernel_test; JUPYTER_PATH says where the kernel is installed.
"""

import unittest

import jupyter_kernel_test


class ArpoLabTests(jupyter_kernel_test.KernelTests):
    kernel_name = "arpo-lab"
    language_name = "typescript"
    file_extension = ".ts"
    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('to stderr')"
    completion_samples = [
        {"text": "consol", "matches": {"console"}},
        {"text": "Math.hyp", "matches": {"hypot"}},
    ]
    complete_code_samples = ["1", "const a = 1;", "function f() {\n  return 1;\n}"]
    incomplete_code_samples = ["function f() {", "const a = [1,", "`open"]
    invalid_code_samples = ["const = 3", "x ]"]
    code_page_something = "?Math.sqrt"
    code_generate_error = "throw new RangeError('generated')"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "'a' + 'b'", "result": "'ab'"},
    ]
    code_display_data = [
        {
            "code": "import { display } from 'arpo-lab/kernel'; display.html('<b>1</b>'); 0",
            "mime": "text/html",
        },
    ]
    code_history_pattern = "6 ? 7"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "Math.sqrt"
    code_clear_output = "(await import('arpo-lab/kernel')).clearOutput()"


if __name__ == "__main__":
    unittest.main()
