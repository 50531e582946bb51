import * as fc from "fast-check";
import type { JudgeAct } from "#server/connectors/judge.ts";
import { isNarrowerScope } from "#core/scope.ts";
import { runs, SEED } from "../../runs.ts";
import type { TestUser } from "../../helpers.ts";
import { isInScope, makeShareServer, type ShareServer, textOf } from "./share.ts";

/** What is planted in a server, so that the property must fail. */
export type Plant = (kb: ShareServer) => void;

/** Everybody but `judgeAct` for these acts: anyone who manages the connector may. */
export function forgetting(...acts: Parameters<JudgeAct>[0][]): Plant {
  return (kb) => {
    const { connectorDeps } = kb.deps;
    const { judgeAct } = connectorDeps;
    connectorDeps.judgeAct = (act, who, connector) => {
      const verdict = judgeAct(act, who, connector);
      return acts.includes(act) && verdict !== "hidden" ? "yes" : verdict;
    };
  };
}

/** What was read elsewhere stays, and is shown. */
export const NOT_WITHHELD: Plant = (kb) => {
  kb.deps.connectorDeps.syncs.hide = async (_tx, _workspaceId, _source, connector) => connector;
};

const KINDS = ["share", "plain", "mirror"] as const;
const PEOPLE = ["alice", "admin", "top", "demoted", "member"] as const;
type Person = (typeof PEOPLE)[number];
const FILES = ["a1", "a2", "b1"];
const SCOPES = [
  { include: [], exclude: [] },
  { include: ["a"], exclude: [] },
  { include: ["a", "b"], exclude: ["a2"] },
  { include: [], exclude: ["b"] },
];

type Act =
  | { type: "readers"; to: "workspace" | "few" }
  | { type: "access"; to: "private" | "workspace" }
  | { type: "move"; to: "/one" | "/two" }
  | { type: "reconnect" }
  | { type: "scope"; to: number }
  | { type: "pause" | "resume" | "sync" | "rename" | "take_over" | "take_over_wide" }
  | { type: "leave" }
  | { type: "work" };

const anAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ type: fc.constant("readers" as const), to: fc.constantFrom("workspace" as const, "few" as const) }),
  fc.record({ type: fc.constant("access" as const), to: fc.constantFrom("private" as const, "workspace" as const) }),
  fc.record({ type: fc.constant("move" as const), to: fc.constantFrom("/one" as const, "/two" as const) }),
  fc.record({ type: fc.constant("scope" as const), to: fc.nat({ max: SCOPES.length - 1 }) }),
  fc
    .constantFrom("reconnect", "pause", "resume", "sync", "rename", "take_over", "take_over_wide", "leave", "work")
    .map((type) => ({ type }) as Act),
);
const aCase = fc.record({
  kind: fc.constantFrom(...KINDS),
  steps: fc.array(fc.record({ by: fc.constantFrom(...PEOPLE), act: anAct }), { minLength: 3, maxLength: 9 }),
});

/** What the connector's owners have said, by the rules alone: an oracle without the program. */
interface Said {
  kind: (typeof KINDS)[number];
  owner: Person | undefined;
  token: Person;
  root: string;
  readers: "workspace" | "few";
  access: "private" | "workspace";
  scope: (typeof SCOPES)[number];
  /** Texts of before a take-over, and who could read each then: nobody else ever may. */
  left: Map<string, ReadonlySet<Person>>;
}

/**
 * Nobody gains an item but by the act of the connector's owner, whatever people of every role try, at once and after the
 * syncs that follow: what anybody reads is always among what its owners have opened, read with their own credentials, at the
 * place that they named.
 */
export async function nobodyGains(cases: number, plant?: Plant): Promise<void> {
  await fc.assert(
    fc.asyncProperty(aCase, ({ kind, steps }) => playCase(kind, steps, plant)),
    { numRuns: runs(cases), endOnFailure: true, includeErrorInReport: true, ...(SEED !== undefined && { seed: SEED }) },
  );
}

async function playCase(
  kind: (typeof KINDS)[number],
  steps: readonly { by: Person; act: Act }[],
  plant?: Plant,
): Promise<void> {
  const files = (tokens: Person[]) => FILES.map((path) => ({ path, ...(path !== "a1" && { tokens }) }));
  const roots = { "/one": files(["alice"]), "/two": files(["admin", "top"]) };
  const kb = await makeShareServer({ roots });
  plant?.(kb);
  const demoted = await kb.addMember(kb.top.workspaceId, "admin");
  const users: Record<Person, TestUser> = {
    alice: kb.owner,
    admin: kb.admin,
    top: kb.top,
    demoted,
    member: kb.member,
  };
  const memberIds = [kb.member.userId];
  const few = (await kb.as(kb.top).post("/api/groups", { name: "Few", memberIds, isClosed: true })).json.group.id;
  const configOf = ({ root, readers }: Pick<Said, "root" | "readers">) => ({
    root,
    ...(kind === "share" && { readers: [readers === "few" ? few : "workspace"] }),
  });
  const said: Said = {
    kind,
    owner: "alice",
    token: "alice",
    root: "/one",
    readers: "few",
    access: "workspace",
    scope: { include: ["a"], exclude: [] },
    left: new Map(),
  };
  const id = await kb.connect(kb.owner, {
    providerId: kind,
    config: configOf(said),
    scope: said.scope,
    credentials: { token: "alice" },
    access: { visibility: said.access, memberIds: [] },
  });
  await kb.setRole(demoted, "member");
  await kb.work();
  for (const { by, act } of steps) {
    const readable = await everyonesTexts(kb, users, said);
    await perform(kb, users[by], { id, by, act, said, configOf });
    follow(said, { by, act }, readable);
    await requireOpened(kb, users, said, { by, act });
    await kb.work();
    await requireOpened(kb, users, said, { by, act });
  }
}

type ConfigOf = (said: Pick<Said, "root" | "readers">) => Record<string, unknown>;
interface Step {
  by: Person;
  act: Act;
}

async function perform(
  kb: ShareServer,
  user: TestUser,
  { id, by, act, said, configOf }: Step & { id: string; said: Said; configOf: ConfigOf },
): Promise<void> {
  const patch = (body: unknown) => kb.patch(user, id, body);
  const credentials = { token: by };
  const post = (what: string) => kb.as(user).post(`/api/connectors/${id}/${what}`, {});
  switch (act.type) {
    case "readers":
      // With credentials of their own, which changes nothing of whose connector it is.
      return void (await patch({
        config: configOf({ ...said, readers: act.to }),
        ...(by !== said.owner && { credentials }),
      }));
    case "access":
      return void (await patch({ access: { visibility: act.to } }));
    case "move":
      return void (await patch({
        config: configOf({ ...said, root: act.to }),
        ...(by !== said.owner && { credentials }),
      }));
    case "reconnect":
      return void (await patch({ credentials }));
    case "scope":
      return void (await kb.scope(user, id, SCOPES[act.to]));
    case "rename":
      return void (await patch({ name: `By ${by}` }));
    case "take_over":
      return void (await patch({ takeOver: true, credentials }));
    case "take_over_wide": {
      const wide = { config: configOf({ ...said, readers: "workspace" }), access: { visibility: "workspace" } };
      return void (await patch({ takeOver: true, credentials, ...wide }));
    }
    case "leave":
      return void (await kb.as(user).delete(`/api/workspace/members/${kb.owner.userId}`));
    case "sync":
      return void (await post("syncs"));
    case "pause":
    case "resume":
      return void (await post(act.type));
    case "work":
      return void (await kb.work());
  }
}

/** Who may take the first owner out of the workspace, themselves included. */
const LEAVERS: ReadonlySet<Person> = new Set(["alice", "admin", "top"]);
const TAKES: ReadonlySet<Act["type"]> = new Set(["take_over", "take_over_wide", "readers", "move", "reconnect"]);

/** What the step changes of what was said, by the rules. `readable`: who could read which text before it. */
function follow(said: Said, { by, act }: Step, readable: Map<string, ReadonlySet<Person>>): void {
  if (act.type === "leave" && LEAVERS.has(by) && said.owner === "alice") said.owner = undefined;
  const isAdmin = by === "admin" || by === "top";
  // Credentials of one's own take over what nobody owns, whatever else they come with.
  if (said.owner === undefined && isAdmin && TAKES.has(act.type)) {
    Object.assign(said, { owner: by, token: by, left: readable });
    if (act.type === "take_over_wide") Object.assign(said, { readers: "workspace", access: "workspace" });
  }
  const isOwner = by === said.owner;
  const isManager = isOwner || isAdmin;
  if (act.type === "readers" && isOwner) said.readers = act.to;
  if (act.type === "move" && isOwner && act.to !== said.root) {
    // What is mirrored stays its readers' at the source until the next listing.
    Object.assign(said, { root: act.to, left: said.kind === "mirror" ? readable : new Map() });
  }
  if (act.type === "access" && (isOwner || (isManager && act.to === "private"))) said.access = act.to;
  const scope = act.type === "scope" ? SCOPES[act.to] : undefined;
  if (scope && (isOwner || (isManager && isNarrowerScope(said.scope, scope)))) said.scope = scope;
}

async function everyonesTexts(kb: ShareServer, users: Record<Person, TestUser>, { owner }: Said) {
  const found = new Map<string, Set<Person>>();
  for (const person of PEOPLE) {
    // Nobody reads anything after leaving.
    if (person === "alice" && owner !== "alice") continue;
    for (const text of await kb.texts(users[person])) found.set(text, (found.get(text) ?? new Set()).add(person));
  }
  return found;
}

/** @throws Error that names who reads what nobody who may has opened to them */
async function requireOpened(
  kb: ShareServer,
  users: Record<Person, TestUser>,
  said: Said,
  { by, act }: Step,
): Promise<void> {
  const opened = new Set<string>();
  for (const { path, tokens } of kb.world.roots[said.root] ?? []) {
    const isRead = (tokens === undefined || tokens.includes(said.token)) && isInScope(said.scope, path);
    if (isRead) opened.add(textOf(said.root, path, said.token));
  }
  for (const [text, people] of await everyonesTexts(kb, users, said)) {
    for (const person of people) {
      const isReader = said.kind !== "share" || said.readers === "workspace" || person === "member";
      const isInside = said.access === "workspace" || person === said.owner;
      const isOpen = isReader && isInside && opened.has(text);
      if (isOpen || said.left.get(text)?.has(person) === true) continue;
      throw new Error(
        `${person} reads "${text}" after ${by} tried ${JSON.stringify(act)} on a connector on "${said.kind}"`,
      );
    }
  }
}
