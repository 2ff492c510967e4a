"""Asks jupyter_server and our server the same, on copies of one folder; compares status codes and keys,
and validates our answers with jupyter_server's own schema and check of contents.

usage: check_rest.py OURS OUR_TOKEN THEIRS THEIR_TOKEN
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

import jsonschema
import jupyter_server
import yaml
from jupyter_server.services.contents.handlers import validate_model

ours, our_token, theirs, their_token = sys.argv[1:]
spec = yaml.safe_load(
    (Path(jupyter_server.__file__).parent / "services/api/api.yaml").read_text()
)


def nullable(schema):
    """The schema says in words what may be null, and that a directory's content is a list."""
    if isinstance(schema, list):
        return [nullable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: nullable(value) for key, value in schema.items() if key != "format" or not isinstance(value, str)}
    if result.get("type") in ("string", "integer"):
        result["type"] = [result["type"], "null"]
    return result


definitions = nullable(spec["definitions"])
definitions["Contents"]["properties"]["content"] = {}


def ask(base, token, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"token {token}", "content-type": "application/json"}
    request = urllib.request.Request(base.rstrip("/") + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    try:
        return status, json.loads(text) if text.strip() else None
    except json.JSONDecodeError:
        return status, "a page"  # jupyter_server answers some unknown addresses so


def keys(value):
    """What an answer has by name: of a list, of its first entry."""
    if isinstance(value, list):
        return keys(value[0]) if value else None
    return sorted(value) if isinstance(value, dict) else type(value).__name__


notebook = {
    "cells": [
        {"cell_type": "code", "id": "one", "metadata": {}, "execution_count": None, "outputs": [], "source": "1 + 1"}
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
text = {"type": "file", "format": "text", "content": "new\n"}
nb = {"type": "notebook", "format": "json", "content": notebook}
contents = "/api/contents"
# (method, path, body, definition of the answer where it is good); {k} and {s} are kernel and session.
cases = [
    ("GET", "/api", None, None),
    ("GET", "/api/status", None, "APIStatus"),
    ("GET", "/api/me", None, None),
    ("GET", "/api/kernelspecs", None, None),
    ("GET", "/api/kernelspecs/nowhere", None, None),
    ("GET", contents, None, "Contents"),
    ("GET", f"{contents}/", None, "Contents"),
    ("GET", f"{contents}?content=0", None, "Contents"),
    ("GET", f"{contents}/a.txt", None, "Contents"),
    ("GET", f"{contents}/a.txt?content=0", None, "Contents"),
    ("GET", f"{contents}/a.txt?content=0&hash=1", None, "Contents"),
    ("GET", f"{contents}/a.txt?content=1&hash=1", None, "Contents"),
    ("GET", f"{contents}/a.txt?format=base64", None, "Contents"),
    ("GET", f"{contents}/a.txt?type=file&format=text", None, "Contents"),
    ("GET", f"{contents}/a.txt?type=directory", None, None),
    ("GET", f"{contents}/a.txt?type=notebook", None, None),
    ("GET", f"{contents}/a.txt?type=picture", None, None),
    ("GET", f"{contents}/a.txt?format=binary", None, None),
    ("GET", f"{contents}/a.txt?content=2", None, None),
    ("GET", f"{contents}/bytes.bin", None, "Contents"),
    ("GET", f"{contents}/bytes.bin?format=text", None, None),
    ("GET", f"{contents}/one.ipynb", None, "Contents"),
    ("GET", f"{contents}/one.ipynb?content=0", None, "Contents"),
    ("GET", f"{contents}/one.ipynb?type=file&format=text", None, "Contents"),
    ("GET", f"{contents}/broken.ipynb", None, None),
    ("GET", f"{contents}/broken.ipynb?content=0", None, "Contents"),
    ("GET", f"{contents}/folder", None, "Contents"),
    ("GET", f"{contents}/folder?type=file", None, None),
    ("GET", f"{contents}/folder/%C3%A4%20b.txt", None, "Contents"),
    ("GET", f"{contents}/nowhere.txt", None, None),
    ("GET", f"{contents}/.hidden.txt", None, None),
    ("PUT", f"{contents}/new.txt", text, "Contents"),
    ("PUT", f"{contents}/new.txt", text, "Contents"),
    ("PUT", f"{contents}/new.ipynb", nb, "Contents"),
    ("PUT", f"{contents}/new", {"type": "directory"}, "Contents"),
    ("PUT", f"{contents}/none", {"type": "file", "format": "text"}, None),
    ("PUT", f"{contents}/none", {"content": "x"}, None),
    ("PUT", f"{contents}/none", {**text, "type": "picture"}, None),
    ("PUT", f"{contents}/bytes2.bin", {"type": "file", "format": "base64", "content": "AAEC"}, "Contents"),
    ("PUT", f"{contents}/none.bin", {"type": "file", "format": "base64", "content": "!"}, None),
    ("PUT", f"{contents}/.hidden2.txt", text, None),
    ("POST", contents, {"type": "notebook"}, "Contents"),
    ("POST", contents, {"type": "notebook"}, "Contents"),
    ("POST", contents, {"type": "directory"}, "Contents"),
    ("POST", contents, {"type": "file", "ext": ".txt"}, "Contents"),
    ("POST", f"{contents}/folder", {}, "Contents"),
    ("POST", contents, {"copy_from": "a.txt"}, "Contents"),
    ("POST", contents, {"copy_from": "nowhere.txt"}, None),
    ("POST", f"{contents}/nowhere", {"type": "notebook"}, None),
    ("POST", f"{contents}/a.txt", {"type": "notebook"}, None),
    ("PATCH", f"{contents}/new.txt", {"path": "newer.txt"}, "Contents"),
    ("PATCH", f"{contents}/newer.txt", {"path": "a.txt"}, None),
    ("PATCH", f"{contents}/nowhere.txt", {"path": "b.txt"}, None),
    ("PATCH", f"{contents}/newer.txt", {}, None),
    ("GET", f"{contents}/one.ipynb/checkpoints", None, None),
    ("POST", f"{contents}/one.ipynb/checkpoints", None, "Checkpoints"),
    ("GET", f"{contents}/one.ipynb/checkpoints", None, "Checkpoints"),
    ("POST", f"{contents}/one.ipynb/checkpoints/checkpoint", None, None),
    ("POST", f"{contents}/one.ipynb/checkpoints/nowhere", None, None),
    ("DELETE", f"{contents}/one.ipynb/checkpoints/checkpoint", None, None),
    ("DELETE", f"{contents}/one.ipynb/checkpoints/checkpoint", None, None),
    ("POST", f"{contents}/nowhere.ipynb/checkpoints", None, None),
    ("DELETE", f"{contents}/newer.txt", None, None),
    ("DELETE", f"{contents}/newer.txt", None, None),
    ("DELETE", f"{contents}/new", None, None),
    ("GET", "/api/kernels", None, None),
    ("POST", "/api/kernels", {"name": "arpo-lab"}, "Kernel"),
    ("GET", "/api/kernels", None, "Kernel"),
    ("GET", "/api/kernels/{k}", None, "Kernel"),
    ("POST", "/api/kernels/{k}/interrupt", None, None),
    ("POST", "/api/kernels/{k}/restart", None, "Kernel"),
    ("DELETE", "/api/kernels/{k}", None, None),
    ("GET", "/api/kernels/{k}", None, None),
    ("DELETE", "/api/kernels/{k}", None, None),
    ("POST", "/api/kernels/{k}/interrupt", None, None),
    ("POST", "/api/kernels/{k}/restart", None, None),
    ("GET", "/api/sessions", None, None),
    ("POST", "/api/sessions", {"name": "n", "type": "notebook"}, None),
    ("POST", "/api/sessions", {"path": "one.ipynb", "name": "n", "type": "notebook", "kernel": {"name": "arpo-lab"}}, "Session"),
    ("POST", "/api/sessions", {"path": "one.ipynb", "name": "n", "type": "notebook", "kernel": {"name": "arpo-lab"}}, "Session"),
    ("GET", "/api/sessions", None, "Session"),
    ("GET", "/api/sessions/{s}", None, "Session"),
    ("PATCH", "/api/sessions/{s}", {"path": "two.ipynb", "name": "m"}, "Session"),
    ("DELETE", "/api/sessions/{s}", None, None),
    ("GET", "/api/sessions/{s}", None, None),
    ("DELETE", "/api/sessions/{s}", None, None),
    ("PATCH", "/api/sessions/{s}", {"path": "x"}, None),
    ("GET", "/api/config/section", None, None),
    ("PATCH", "/api/config/section", {"a": 1}, None),
    ("GET", "/api/config/section", None, None),
    ("GET", "/api/nowhere", None, None),
]
# Where ours answers otherwise on purpose: theirs saves a type that there is not, bytes that are no base64 as
# nothing, renames to where it was without a path, and says of a hidden file that it cannot be made.
meant = {
    f'PUT {contents}/none {{"type": "picture", "format": "text", "content": "new\\n"}}': 400,
    f'PUT {contents}/none.bin {{"type": "file", "format": "base64", "content": "!"}}': 400,
    f"PATCH {contents}/newer.txt": 400,
    f'PUT {contents}/.hidden2.txt {{"type": "file", "format": "text", "content": "new\\n"}}': 404,
}
wrong = []
made = {"ours": {}, "theirs": {}}
for number, (method, path, body, definition) in enumerate(cases):
    answers = {}
    for name, base, token in (("ours", ours, our_token), ("theirs", theirs, their_token)):
        mine = made[name]
        where = path.replace("{k}", mine.get("k", "")).replace("{s}", mine.get("s", ""))
        answers[name] = status, value = ask(base, token, method, where, body)
        if method == "POST" and status == 201 and path == "/api/kernels":
            mine["k"] = value["id"]
        if method == "POST" and status == 201 and path == "/api/sessions":
            mine["s"] = value["id"]
    (status, value), (expected, other) = answers["ours"], answers["theirs"]
    label = f"{method} {path} {json.dumps(body) if body else ''}".strip()
    if status != expected:
        # What it does not handle itself (500) ours says in words.
        if meant.get(label) == status or (expected == 500 and status == 404):
            continue
        wrong.append(f"{label}: {status} {value}, jupyter_server {expected} {other}")
        continue
    missing = set(keys(other) or []) - set(keys(value) or []) if isinstance(other, (dict, list)) else set()
    if missing:
        wrong.append(f"{label}: lacks {missing}, has {keys(value)}")
    if definition is None or status >= 400:
        continue
    schema = {"$ref": f"#/definitions/{definition}", "definitions": definitions}
    for item in value if isinstance(value, list) else [value]:
        try:
            jsonschema.validate(item, schema)
            if definition == "Contents":
                whole = method == "GET" and "content=0" not in path
                validate_model(item, expect_content=whole, expect_hash="hash=1" in path)
        except Exception as error:
            wrong.append(f"{label}: {str(error)[:300]}")
specs = ask(ours, our_token, "GET", "/api/kernelspecs")[1]
for item in specs["kernelspecs"].values():
    jsonschema.validate(item, {"$ref": "#/definitions/KernelSpec", "definitions": definitions})
    jsonschema.validate(item["spec"], {"$ref": "#/definitions/KernelSpecFile", "definitions": definitions})
me = ask(ours, our_token, "GET", "/api/me")[1]
jsonschema.validate(me["identity"], {"$ref": "#/definitions/Identity", "definitions": definitions})
jsonschema.validate(me["permissions"], {"$ref": "#/definitions/Permissions", "definitions": definitions})
print("\n".join(wrong))
print(f"{len(cases)} requests, {len(wrong)} differ")
sys.exit(1 if wrong else 0)
