"""What `schemathesis.ts` puts into requests before they are sent: ids of things that exist, lines of a push, calls of tools,
and a new session where a request ends the one it uses. Every fourth request stays as it was generated."""

import json
import os
import random

import requests
import schemathesis
from hypothesis import strategies as st

with open(os.environ["KB_SEED"], encoding="utf-8") as file:
    SEED = json.load(file)
URL = SEED["url"]
ROLE = os.environ["KB_ROLE"]

ODD = ["", "\u0000", "\u202egnp.exe", "x" * 5000, "undefined", "-1", "0", "monday", "2026-02-30", "İ", "\ud83d\ude00", "*", "\"", "a/b#2"]
PEOPLE = [["workspace"], [], ["user:" + SEED["userId"]], ["group:" + SEED["groupId"]], ["user:push:con_x:bo"], ["nobody"]]


def access(rng):
    if rng.random() < 0.2:
        return {"known": False}
    return {"known": True, "all": [rng.choice(PEOPLE) for _ in range(rng.randrange(0, 3))]}


def line(rng):
    """A line of a push, good or nearly so."""
    own = SEED["ids"]["connector"][0]
    external = rng.choice(["T-1", "T-2", "dir/a", "dir/b", "ü/" + str(rng.randrange(50)), rng.choice(ODD)])
    group, user = f"group:{own}:eng", f"user:push:{own}:bo"
    item = {"externalId": external, "kind": rng.choice(["task", "file", "page", "message"]), "title": rng.choice(["Plan", "Budget 2026", rng.choice(ODD)]), "access": access(rng)}
    more = {
        "text": rng.choice(["the budget of the year", rng.choice(ODD)]),
        "key": rng.choice(["OPS-1", rng.choice(ODD)]),
        "url": rng.choice(["https://tracker.example/T-1", "javascript:alert(1)", rng.choice(ODD)]),
        "status": rng.choice(["open", "Closed", rng.choice(ODD)]),
        "dueAt": rng.choice(["2026-12-01T17:00:00Z", "2026-12-01", rng.choice(ODD)]),
        "assignees": [{"name": "Bo", "principal": rng.choice([user, "user:" + SEED["userId"], rng.choice(ODD)])}],
        "labels": [rng.choice(["infra", *ODD])],
        "parentId": rng.choice(["T-1", "T-2", "missing", rng.choice(ODD)]),
        "path": ["Board", rng.choice(ODD)],
        "fields": {rng.choice(["team", *ODD]): rng.choice([1, 1e308, True, "x", None, [], *ODD])},
        "version": rng.choice(["1", "2"]),
        "priority": rng.choice(["high", 1, rng.choice(ODD)]),
        rng.choice(["unknown", "size"]): rng.choice([1, -1, "x"]),
    }
    item.update({key: more[key] for key in rng.sample(list(more), rng.randrange(0, 5))})
    lines = [
        {"t": "upsert", "item": item},
        {"t": "upsert", "item": item},
        {"t": "acl", "externalId": external, "access": access(rng)},
        {"t": "seen", "externalId": external, "version": "1"},
        {"t": "delete", "externalId": external, "subtree": rng.random() < 0.3},
        {"t": "member", "group": group, "member": rng.choice([user, "user:" + SEED["userId"], rng.choice(ODD)])},
        {"t": "group", "group": rng.choice([group, rng.choice(ODD)]), "members": [user]},
        {"t": "identity", "principal": user, "member": rng.choice([None, "user:" + SEED["userId"], rng.choice(ODD)])},
        rng.choice([{}, [], None, 7, {"t": "x"}, {"t": "upsert"}, {"t": "upsert", "item": []}]),
    ]
    text = json.dumps(rng.choice(lines))
    return text[: len(text) // 2] if rng.random() < 0.03 else text


def pushed(seed):
    rng = random.Random(seed)
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(0, 200))
    end = rng.choice(["\n", "\r\n", "\n\n"])
    return end.join(line(rng) for _ in range(rng.randrange(0, 30))).encode()


schemathesis.openapi.media_type("application/x-ndjson", st.integers(0, 2**32).map(pushed))

TOOLS = {
    "kb_search": ["query", "kind", "status", "assignee", "people", "priority", "source", "field", "after", "before", "dateField", "sortBy", "groupBy", "limit", "detail", "cursor"],
    "kb_search_entities": ["query", "type", "limit", "cursor"],
    "kb_get_entity_context": ["entityId", "kind", "after", "limit"],
    "kb_get_file_content": ["fileId", "offset", "limit", "section", "find"],
}


def tool_call(rng):
    name = rng.choice(list(TOOLS))
    good = {"query": "budget plan", "kind": "task", "entityId": rng.choice(SEED["ids"]["entity"] or [""]), "fileId": rng.choice(SEED["ids"]["file"] or [""]), "limit": 5, "after": "2026-01-01"}
    values = [*ODD, 0, -1, 1e9, None, True, [], ["task"], {}]
    keys = rng.sample(TOOLS[name], rng.randrange(0, 4))
    arguments = {key: rng.choice(values) if rng.random() < 0.5 else good.get(key, rng.choice(ODD)) for key in [*keys, TOOLS[name][0]]}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def call(method, path, body=None, headers=None):
    answer = requests.request(method, URL + path, json=body, headers=headers, timeout=20)
    return answer.json() if answer.content else {}, answer


def new_session():
    _, answer = call("POST", "/api/session", SEED["sessionOf"])
    if "set-cookie" not in answer.headers:
        raise RuntimeError(f"nobody could sign in: {answer.status_code} {answer.text}")
    return answer.headers["set-cookie"].split(";")[0]


def device_code(cookie):
    started = requests.post(URL + "/oauth/device_authorization", data={"client_id": "kb-cli", "scope": "mcp:read kb:api"}, timeout=20).json()
    request, _ = call("POST", "/oauth/device/request", {"userCode": started["user_code"]}, {"Cookie": cookie})
    return started["user_code"], request.get("csrf", "x")


def new_upload():
    key = {"Authorization": "Bearer " + SEED["key"]}
    mode = random.choice(["add", "set"])
    begun, _ = call("POST", f"/api/connectors/{SEED['ids']['connector'][0]}/uploads", {"mode": mode}, key)
    return begun["upload"]["id"] if "upload" in begun else None


def real_id(method, path, name):
    """An id of something that is there; of what is removed, each once."""
    ids = SEED["ids"]
    parts = path.split("/")
    what = SEED["kinds"].get(f"{name} {path}") or SEED["kinds"].get(f"{name} {'/'.join(parts[:3])}") or SEED["kinds"].get(name)
    if what == "upload":
        return new_upload()
    if method == "DELETE" and f"gone-{what}" in ids:
        return ids[f"gone-{what}"].pop() if ids[f"gone-{what}"] else None
    if what == "connector" and ROLE == "key":
        return ids[what][0]
    return random.choice(ids[what]) if ids.get(what) else None


@schemathesis.hook
def before_call(context, case, kwargs):
    path, method = case.operation.path, case.operation.method.upper()
    if ROLE == "sessions":
        cookie = new_session()
        case.headers = {**(case.headers or {}), "Cookie": cookie}
        if path.startswith("/oauth/device/") and isinstance(case.body, dict) and random.random() < 0.8:
            code, csrf = device_code(cookie)
            case.body.update({key: value for key, value in {"userCode": code, "csrf": csrf}.items() if key in case.body})
        if path.startswith("/api/profile/") and isinstance(case.body, dict) and random.random() < 0.8:
            known = {"password", "currentPassword"} & case.body.keys()
            case.body.update({key: SEED["sessionOf"]["password"] for key in known})
    if random.random() < 0.25:
        return
    for name in list(case.path_parameters or {}):
        known = real_id(method, path, name)
        if known is not None:
            case.path_parameters[name] = known
    if path == "/mcp":
        case.body = tool_call(random)
    if path.endswith("/documents") and isinstance(case.body, dict):
        item = {"externalId": random.choice(["q1", "q2", random.choice(ODD)]), "kind": "file", "title": random.choice(["Q3.pdf", "a.zip", "b.md", "c.json"]), "access": access(random)}
        case.body["line"] = json.dumps({"t": "upsert", "item": item})
    if path.endswith("/items") and method == "POST" and isinstance(case.query, dict):
        case.query.pop("firstLine", None)
        case.query.pop("upload", None)
        if random.random() < 0.3:
            case.query.update({"upload": new_upload(), "firstLine": random.choice([1, 1, 1, 2])})


@schemathesis.hook
def after_call(context, case, response):
    """A person who changed what they sign in with goes on with it."""
    if ROLE == "sessions" and response.status_code < 300 and isinstance(case.body, dict):
        changed = {"newPassword": "password", "email": "email"}
        if case.operation.path.startswith("/api/profile/"):
            SEED["sessionOf"].update({to: case.body[key] for key, to in changed.items() if key in case.body})
