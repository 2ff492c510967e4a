/**
 * The Python side, the same text for every interpreter: it rewrites the code, runs it as
 * `python -c` would, and writes what went wrong the same way whatever the interpreter's version
 * (frames without source lines, as CPython up to 3.12 shows `-c` code).
 *
 * `arpo_run(code)` gives the exit status; output goes to `sys.stdout` and `sys.stderr`.
 */
export const harness = String.raw`
def _make():
    import ast, errno, re, sys, traceback, types

    def preprocess(code):
        try:
            tree = ast.parse(code)
            if not tree.body or not isinstance(tree.body[-1], ast.Expr):
                return code
            value = tree.body[-1].value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
                return code
            name = ast.Name(id="print", ctx=ast.Load())
            tree.body[-1] = ast.Expr(value=ast.Call(func=name, args=[value], keywords=[]))
            return ast.unparse(ast.fix_missing_locations(tree))
        except Exception:
            return code

    def frames(error):
        # Frames of this file are not the model's business; source lines differ between versions.
        error.stack = traceback.StackSummary.from_list(
            [traceback.FrameSummary(f.filename, f.lineno, f.name, lookup_line=False, line="")
             for f in error.stack if f.filename != "<harness>"])
        for inner in (error.__cause__, error.__context__):
            if inner is not None:
                frames(inner)
        for inner in getattr(error, "exceptions", None) or []:
            frames(inner)

    # WebAssembly numbers system errors its own way; people and models know Linux's numbers.
    linux = dict(EPERM=1, ENOENT=2, EINTR=4, EIO=5, ENXIO=6, EBADF=9, ECHILD=10, EAGAIN=11, ENOMEM=12,
                 EACCES=13, EBUSY=16, EEXIST=17, EXDEV=18, ENODEV=19, ENOTDIR=20, EISDIR=21, EINVAL=22,
                 ENFILE=23, EMFILE=24, ENOTTY=25, EFBIG=27, ENOSPC=28, ESPIPE=29, EROFS=30, EPIPE=32,
                 ENAMETOOLONG=36, ENOSYS=38, ENOTEMPTY=39, ELOOP=40, EOPNOTSUPP=95, ECONNREFUSED=111,
                 EHOSTUNREACH=113) if sys.platform == "emscripten" else {}

    def renumber(error, seen):
        if error is None or id(error) in seen:
            return
        seen.add(id(error))
        if isinstance(error, OSError) and isinstance(error.errno, int):
            error.errno = linux.get(errno.errorcode.get(error.errno), error.errno)
        renumber(error.__cause__, seen)
        renumber(error.__context__, seen)

    def tell(text):
        try:
            sys.stderr.write(text)
        except BaseException:
            pass  # The code closed the stream: nobody hears.

    def report(error):
        try:
            renumber(error, set())
            shown = traceback.TracebackException.from_exception(error, compact=True)
            frames(shown)
            text = "".join(shown.format())
            # Versions from 3.12 on add a guess; 3.11 does not.
            text = re.sub(r"(?m)^(NameError: name .*?)(?:\.| Or) [Dd]id you forget to import '[^']*'\?$", r"\1", text)
        except BaseException:
            text = type(error).__name__ + ": (no message could be made)\n"
        tell(text)

    def status(error):
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF
        tell(str(code) + "\n")
        return 1

    def run(code):
        main = types.ModuleType("__main__")
        main.__dict__["__builtins__"] = sys.modules["builtins"]
        sys.modules["__main__"] = main
        sys.argv = ["-c"]
        result = 0
        try:
            exec(compile(preprocess(code), "<string>", "exec", dont_inherit=True), main.__dict__)
        except SystemExit as error:
            result = status(error)
        except BaseException as error:
            result = 1
            report(error)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                result = result or 120
        return result

    return preprocess, run

arpo_preprocess, arpo_run = _make()
del _make
`;
