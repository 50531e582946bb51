import { readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { CONNECTOR_ACTS, type ConnectorAct } from "#api/connector-acts.ts";
import { type Judged, judgeAct, type Who } from "#server/connectors/judge.ts";
import { makeShareServer, type ShareServer } from "./share.ts";

/** The columns of docs/permissions.md. */
const ROLES = ["owner", "former admin", "admin", "workspace owner", "member"] as const;
type Asking = (typeof ROLES)[number];

const who = (userId: string, role: Who["role"]): Who => ({ userId, role, scopes: ["kb:api", "kb:admin"] });
const PEOPLE: Record<Asking, Who> = {
  owner: who("usr_owner", "member"),
  "former admin": who("usr_owner", "member"),
  admin: who("usr_admin", "admin"),
  "workspace owner": who("usr_top", "owner"),
  member: who("usr_member", "member"),
};

function verdict(act: ConnectorAct, asking: Asking, more: Partial<Judged> = {}) {
  const state = act === "take_over" ? "needs_owner" : "active";
  const connector = { ownerUserId: "usr_owner", state, pausedBy: null, isForAdmins: false, isPushed: false } as const;
  return judgeAct(act, PEOPLE[asking], { ...connector, isForAdmins: asking === "former admin", ...more });
}

/** What a cell of the table says, by the rule. */
function cellOf(act: ConnectorAct, asking: Asking): string {
  const isYes = (more?: Partial<Judged>) => verdict(act, asking, more) === "yes";
  if (act === "resume") {
    const [owners, admins] = ["usr_owner", "usr_admin"].map((pausedBy) => isYes({ state: "paused", pausedBy }));
    return owners === admins ? (owners ? "yes" : "no") : "if an admin paused it";
  }
  if (act === "take_over" && isYes() && !isYes({ isPushed: true })) return "yes, but no push connector";
  // Credentials that come with the request are judged with it.
  if (act === "reconnect" && !isYes() && isYes({ isForAdmins: false })) return "with credentials of their own";
  return isYes() ? "yes" : "no";
}

test("the table of docs/permissions.md says what the one rule decides", ({ expect }) => {
  const page = readFileSync("docs/permissions.md", "utf8");
  const rows = [...page.matchAll(/^\| [^|]*\(`([a-z_]+)`\)[^|]*\|(.*)\|$/gm)].map(([, act = "", cells = ""]) => [
    act,
    cells.split("|").map((cell) => cell.trim()),
  ]);
  expect(rows).toEqual(CONNECTOR_ACTS.map((act) => [act, ROLES.map((asking) => cellOf(act, asking))]));
});

test("no one but who manages a connector is told that it exists, whatever they try", ({ expect }) => {
  for (const act of CONNECTOR_ACTS) expect(verdict(act, "member")).toBe("hidden");
});

test("an admin whose token has no admin scope has the rights of a member", ({ expect }) => {
  const connector = {
    ownerUserId: "usr_owner",
    state: "active",
    pausedBy: null,
    isForAdmins: false,
    isPushed: false,
  } as const;
  for (const act of CONNECTOR_ACTS) {
    expect(judgeAct(act, { ...PEOPLE.admin, scopes: ["kb:api"] }, connector)).toBe("hidden");
  }
});

test("what a person is told they may do is judged act by act: with their own credentials to reconnect, without for the rest", async ({
  expect,
}) => {
  const kb = await makeShareServer();
  const allowed = async (user: typeof kb.owner, id: string): Promise<string[]> =>
    (await kb.as(user).get(`/api/connectors/${id}`)).json.connector.allowed;
  const plain = await kb.connect(kb.admin, { providerId: "plain" });
  await kb.setRole(kb.admin, "member");
  const formers = await allowed(kb.admin, plain);
  expect([formers.includes("reconnect"), formers.includes("configure")]).toEqual([true, false]);
  const pushed = await kb.connect(kb.top, { providerId: "push", config: {} });
  const acts = await allowed(kb.top, pushed);
  const ofSync = ["sync", "schedule", "widen_scope", "narrow_scope", "browse"];
  expect([acts.includes("rotate_key"), ofSync.filter((act) => acts.includes(act))]).toEqual([true, []]);
});

describe("every route that changes a connector", () => {
  const CONFIG = { root: "/a" };
  const at = (id: string, more = "") => `/api/connectors/${id}${more}`;
  /** What is sent for an act to a connector that includes `pub` and `sub`, excludes `no`, and is for one member. */
  const REQUESTS: Record<ConnectorAct, (id: string) => [method: string, path: string, body?: unknown]> = {
    rename: (id) => ["PATCH", at(id), { name: "Other" }],
    schedule: (id) => ["PATCH", at(id), { schedule: { everyMinutes: 60 } }],
    sync: (id) => ["POST", at(id, "/syncs"), {}],
    pause: (id) => ["POST", at(id, "/pause")],
    resume: (id) => ["POST", at(id, "/resume")],
    delete: (id) => ["DELETE", at(id)],
    narrow_access: (id) => ["PATCH", at(id), { access: { visibility: "private" } }],
    widen_access: (id) => ["PATCH", at(id), { access: { visibility: "workspace" } }],
    narrow_scope: (id) => ["PATCH", at(id, "/scope"), { include: ["pub"], exclude: ["no", "more"] }],
    widen_scope: (id) => ["PATCH", at(id, "/scope"), { include: [], exclude: ["no"] }],
    configure: (id) => ["PATCH", at(id), { config: { ...CONFIG, depth: 3 } }],
    reconnect: (id) => ["PATCH", at(id), { credentials: { token: "own" } }],
    browse: (id) => ["POST", at(id, "/browse"), {}],
    decide_removals: (id) => ["POST", at(id, "/removals/approve"), {}],
    restore: () => ["POST", "/api/connectors/files/KBID/restore"],
    webhook: (id) => ["POST", at(id, "/webhook")],
    link_people: (id) => ["PUT", at(id, "/people"), { links: [{ principal: "user:share:x:1", userId: null }] }],
    rotate_key: (id) => ["POST", at(id, "/rotate-key"), {}],
    end_keys: (id) => ["POST", at(id, "/rotate-key"), {}],
    take_over: (id) => ["PATCH", at(id), { takeOver: true, credentials: { token: "own" } }],
  };
  const isOfPush = (act: ConnectorAct) => act === "rotate_key" || act === "end_keys";

  /** A connector of its owner, made for one act, and who asks. */
  async function prepare(kb: ShareServer, asking: Asking, act: ConnectorAct) {
    const isOwners = asking === "owner" || asking === "former admin";
    const isLeft = act === "take_over" && !isOwners;
    const isMadeByAdmin = asking === "former admin" || isOfPush(act);
    const owner = isLeft || isMadeByAdmin ? await kb.addMember(kb.top.workspaceId, "admin") : kb.owner;
    const id = await kb.connect(owner, {
      scope: { include: ["pub", "sub"], exclude: ["no"] },
      ...(asking !== "former admin" && { credentials: { token: "own" } }),
      ...(isOfPush(act) && { providerId: "push", config: {}, credentials: undefined, scope: undefined }),
    });
    await kb.work();
    if (act === "resume") await kb.as(owner).post(at(id, "/pause"));
    const { files } = (await kb.as(owner).get(`/api/connectors/all-files?connectorId=${id}&q=pub1`)).json;
    if (act === "restore") await kb.scope(owner, id, { include: ["sub"], exclude: ["no"] });
    if (asking === "former admin") await kb.setRole(owner, "member");
    if (isLeft) await kb.leave(owner);
    const asks = { admin: kb.admin, "workspace owner": kb.top, member: kb.outsider };
    return { id, kbId: files[0]?.kbId ?? "", user: isOwners ? owner : asks[asking] };
  }

  /** What the route answers; a key that isn't given is none. */
  async function ask(kb: ShareServer, asking: Asking, act: ConnectorAct) {
    const { id, kbId, user } = await prepare(kb, asking, act);
    const [method, path, body] = REQUESTS[act](id);
    const before = await kb.recordOf(id);
    const sent = kb.as(user).request(method, path.replace("KBID", kbId), body === undefined ? {} : { body });
    const { status, json } = await sent;
    const isUnchanged = JSON.stringify(await kb.recordOf(id)) === JSON.stringify(before);
    const code: string | undefined = act === "rotate_key" && json?.key === null ? "forbidden" : json?.code;
    const isRefused = code === "forbidden" || code === "not_found";
    if (isRefused && !isUnchanged && act !== "rotate_key") throw new Error(`${act} was refused, and has changed it`);
    if (status >= 500) throw new Error(`${act}: ${status}`);
    return { answer: isRefused ? code : "yes", message: String(json?.detail) };
  }

  function wantedOf(act: ConnectorAct, asking: Asking): string {
    if (asking === "member") return act === "link_people" ? "forbidden" : "not_found";
    return cellOf(act, asking) === "no" || (act === "resume" && cellOf(act, asking) !== "yes") ? "forbidden" : "yes";
  }

  for (const asking of ROLES) {
    test(`answers ${asking === "owner" ? "its" : "a"} ${asking} as the rule says`, async ({ expect }) => {
      const kb = await makeShareServer();
      const answers: Record<string, string> = {};
      for (const act of CONNECTOR_ACTS) answers[act] = (await ask(kb, asking, act)).answer ?? "";
      expect(answers).toEqual(Object.fromEntries(CONNECTOR_ACTS.map((act) => [act, wantedOf(act, asking)])));
    });
  }

  test("says who may, and what to do next", async ({ expect }) => {
    const kb = await makeShareServer();
    expect((await ask(kb, "admin", "configure")).message).toMatch(
      /^Only \S+, who owns this connector, can change its sett/,
    );
    expect((await ask(kb, "former admin", "widen_scope")).message).toBe(
      "Only an admin can include more in it: connecting Share this way is for admins.",
    );
    const id = await kb.connect(kb.owner, { credentials: { token: "own" } });
    await kb.leave(kb.owner);
    const { json } = await kb.patch(kb.admin, id, { config: { root: "/b" } });
    expect(json).toMatchObject({ code: "forbidden", hint: expect.stringContaining("--take-over") });
  });

  test("shows each of them what they may do", async ({ expect }) => {
    const kb = await makeShareServer();
    const id = await kb.connect(kb.owner, { credentials: { token: "own" } });
    const allowed = async (user: typeof kb.owner) => (await kb.as(user).get(at(id))).json.connector?.allowed;
    const isOfShare = (act: ConnectorAct) => !isOfPush(act) && act !== "take_over";
    const wanted = (asking: Asking) =>
      CONNECTOR_ACTS.filter((act) => isOfShare(act) && (act === "resume" || cellOf(act, asking) === "yes"));
    expect(await allowed(kb.owner)).toEqual(wanted("owner"));
    expect(await allowed(kb.admin)).toEqual(wanted("admin"));
    expect(await allowed(kb.top)).toEqual(wanted("workspace owner"));
  });
});
