/**
 * Random worlds as plain data: who is where, what there is, who may see it. This oracle uses none of the
 * program's code: it walks memberships and lists by hand.
 */
import { createHash } from "node:crypto";
import { type FieldValue, ID_ALPHABET, ID_PREFIXES, type IdKind, type ItemKind } from "#api/common.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import { believedMembers, isActive, isItemYoung, isShut, knownItem, type Mirror, type MirroredItem } from "./mirror.ts";

/** Whose eyes the tests look through. */
export const PERSONAS = ["owner", "inside", "outside", "removed", "stranger"] as const;
export type Persona = (typeof PERSONAS)[number];

export interface ModelConnector {
  connectorId: string;
  workspace: "one" | "two";
  providerId: "filesystem" | "push" | "mirror" | "mcp";
  /** Ends in its canary. */
  name: string;
  canary: string;
  owner: Persona;
  visibility: "private" | "members" | "workspace" | "source";
  members: Persona[];
  isDeleting: boolean;
  /** Its owner has left, and nobody has taken it over. */
  isOrphan: boolean;
  /** The connection to a provider server that it reads through. */
  connectionId?: string;
  /** What its source said, where its permissions are those of the source. */
  mirror?: Mirror;
}

/** Somebody's connection to the provider server of the workspace. */
export interface ModelConnection {
  connectionId: string;
  workspace: "one" | "two";
  /** Ends in its canary. */
  name: string;
  canary: string;
  /** Stands in what the server finds for its owner, and nowhere in kb. */
  liveCanary: string;
  owner: Persona;
  visibility: "private" | "members" | "workspace";
  members: Persona[];
  status: "active" | "needs_reauth" | "revoked";
}

export interface ModelItem {
  kbId: string;
  connectorId: string;
  workspace: "one" | "two";
  kind: ItemKind;
  title: string;
  text: string;
  path: string[];
  labels: string[];
  /** A name and values that others share, a name of its own choice, and the canary. */
  fields: Record<string, FieldValue>;
  author: string;
  url: string | null;
  key: string | null;
  source: string;
  /** The kbId of the item it belongs to, of the same connector. */
  parent: string | null;
  /** Null = its parent's. */
  access: SourceAccess | null;
  updatedAt: number;
  dueAt: number | null;
  isDone: boolean;
  isRemoved: boolean;
  /** Only there in the world with more hidden things. */
  isAdded: boolean;
  /** Stands in every text of this item and nowhere else. */
  canary: string;
  /** What its source said of it; `access` and `isRemoved` say nothing then. */
  mirrored?: MirroredItem;
}

export interface Model {
  seed: number;
  connectors: ModelConnector[];
  items: ModelItem[];
  connections: ModelConnection[];
  /** Group principal → members. */
  groups: Map<Principal, Principal[]>;
  /** Users of sources who are somebody here, however old the word of their source is. */
  joins: Map<Principal, Persona>;
  /** Of them, whom an admin linked by hand. Who was is told so for long, whatever became of it. */
  linked: ReadonlyMap<Principal, Persona>;
  /** When the questions are asked. */
  now: number;
  /** Words that visible and hidden items share, and words that only hidden ones may have. */
  words: string[];
  hiddenWords: string[];
}

export const NOW = Date.UTC(2026, 10, 21, 9, 30);

/** The same id for the same name in every world. */
export function idFor(kind: IdKind, name: string): string {
  const bytes = createHash("sha256").update(`${kind} ${name}`).digest();
  const body = [...bytes.subarray(0, 16)].map((byte) => ID_ALPHABET[byte & 31]).join("");
  return `${ID_PREFIXES[kind]}_${body}`;
}

export const userIdOf = (persona: Persona): string => idFor("user", persona);
export const WORKSPACES = { one: idFor("workspace", "one"), two: idFor("workspace", "two") } as const;

/** What makes two entities one: the first word. One person has many spellings, some of them in hidden items only. */
export const identityOf = (name: string): string => `claimed ${name.split(" ")[0] ?? name}`;

export function entityIdOf(item: ModelItem, type: string, name: string): string {
  return idFor("entity", `${item.workspace} ${type} ${identityOf(name)}`);
}

/** A word that occurs nowhere else; ends so that no stemmer touches it. */
export function canaryFor(name: string): string {
  const bytes = createHash("sha256").update(`canary ${name}`).digest();
  return `cnry${[...bytes.subarray(0, 10)].map((byte) => String.fromCharCode(97 + (byte % 26))).join("")}x`;
}

/** Stands in what the connector's source said when its last run failed. */
export function problemCanaryOf(connector: Pick<ModelConnector, "connectorId">): string {
  return canaryFor(`problem ${connector.connectorId}`);
}

/** Stands in the name of what the connector's runs left out, of which nothing is stored. */
export function leftOutCanaryOf(connector: Pick<ModelConnector, "connectorId">): string {
  return canaryFor(`left out ${connector.connectorId}`);
}

/** A finished run of the connector and one under way. */
export function syncIdsOf(connectorId: string): [string, string] {
  return [idFor("sync", `${connectorId} finished`), idFor("sync", `${connectorId} running`)];
}

/** Every canary that a text mentions. */
export function canariesIn(text: string): Set<string> {
  return new Set(text.match(/cnry[a-z]{10}x/g) ?? []);
}

/** Small, seeded, the same on every machine (mulberry32). */
export function makeRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (p: number) => next() < p,
    pick<T>(values: readonly T[]): T {
      const value = values[int(values.length)];
      if (value === undefined) throw new Error("Nothing to pick from.");
      return value;
    },
    some: <T>(values: readonly T[], count: number): T[] =>
      Array.from({ length: Math.min(count, values.length) }, () => values[int(values.length)]).flatMap((v) =>
        v === undefined ? [] : [v],
      ),
  };
}
export type Random = ReturnType<typeof makeRandom>;

/**
 * Every canary that this persona may meet: of items they may read, of connectors they own, administer, or see an item of.
 */
export function allowedCanaries(model: Model, persona: Persona): Set<string> {
  const allowed = new Set<string>();
  if (persona === "removed") return allowed;
  for (const item of model.items) {
    if (!mayRead(model, persona, item)) continue;
    allowed.add(item.canary);
    const where = model.connectors.find((one) => one.connectorId === item.connectorId);
    if (where) allowed.add(where.canary);
  }
  for (const one of model.connections) {
    const administers = one.workspace === "two" ? persona === "stranger" : persona === "owner";
    if (administers || one.owner === persona || isOpen(one, persona)) allowed.add(one.canary);
    // Sharing it shares what was read: the server itself is asked by its owner alone.
    if (one.owner === persona && one.status === "active") allowed.add(one.liveCanary);
  }
  for (const one of model.connectors) {
    const administers = one.workspace === "two" ? persona === "stranger" : persona === "owner";
    if (administers || one.owner === persona) allowed.add(one.canary);
    // Anyone who manages a connector is told who its source says there is; others, by which names they read what they read.
    const held = heldBy(model, persona);
    const isTold = (principal: Principal) => administers || one.owner === persona || held.has(principal);
    for (const { group, canary } of one.mirror?.groups ?? []) if (isTold(group)) allowed.add(canary);
    for (const each of one.mirror?.users ?? []) {
      const isLinked = model.linked.get(each.user) === persona;
      if (isTold(each.user) || isLinked) allowed.add(each.idCanary);
      // What they are called is their matter for as long as they are it.
      if (isTold(each.user) || (isLinked && model.joins.get(each.user) === persona)) allowed.add(each.canary);
    }
    // A source's own words are for the connector's owner alone (S43).
    if (one.owner === persona) allowed.add(problemCanaryOf(one));
    if (one.owner === persona && gaveAccess(one, administers)) allowed.add(leftOutCanaryOf(one));
  }
  return allowed;
}

/** Whether what its source left out is its owner's to know: they chose the folder, as admins can, or signed in themselves. */
function gaveAccess({ providerId, isOrphan }: ModelConnector, administers: boolean): boolean {
  return !isOrphan && (providerId === "mcp" || (providerId === "filesystem" && administers));
}

/** The oracle: may this persona read this item? */
export function mayRead(model: Model, persona: Persona, item: ModelItem): boolean {
  if (persona === "removed") return false;
  if ((persona === "stranger") !== (item.workspace === "two")) return false;
  const where = model.connectors.find((one) => one.connectorId === item.connectorId);
  if (!where || where.isDeleting) return false;
  const isMember =
    where.visibility === "workspace" ||
    where.visibility === "source" ||
    where.owner === persona ||
    (where.visibility === "members" && where.members.includes(persona));
  if (!isMember) return false;
  const through = model.connections.find(({ connectionId }) => connectionId === where.connectionId);
  if (where.connectionId !== undefined && (!through || !isOpen(through, persona))) return false;
  if (!where.mirror || !item.mirrored) return !item.isRemoved && letsIn(model, persona, item, item.access);
  const known =
    where.isOrphan || isShut(where.mirror) ? undefined : knownItem(mirrored(where, where.mirror), item.mirrored);
  return known !== undefined && isItemYoung(known, model.now) && letsIn(model, persona, item, known.access);
}

/** Whether they see what is read through a connection. */
function isOpen({ workspace, status, owner, visibility, members }: ModelConnection, persona: Persona): boolean {
  if (status !== "active" || persona === "removed" || (persona === "stranger") !== (workspace === "two")) return false;
  return owner === persona || visibility === "workspace" || (visibility === "members" && members.includes(persona));
}

/** Its own access and that of everything above it. */
function letsIn(model: Model, persona: Persona, item: ModelItem, access: SourceAccess | null): boolean {
  if (access !== null) {
    if (!access.known || access.all.length === 0) return false;
    const held = heldBy(model, persona);
    const isMet = access.all.every((list) => list.some((principal) => held.has(principal)));
    if (!isMet || item.parent === null) return isMet;
  }
  const parent = model.items.find((other) => other.kbId === item.parent);
  return parent !== undefined && mayRead(model, persona, parent);
}

const heldIn = new WeakMap<Model, Map<Persona, Set<Principal>>>();

/** Everybody whom this persona stands for, as far as it is believed: round by round until nothing comes to it. */
export function heldBy(model: Model, persona: Persona): ReadonlySet<Principal> {
  const kept = heldIn.get(model) ?? new Map<Persona, Set<Principal>>();
  heldIn.set(model, kept);
  let held = kept.get(persona);
  if (held) return held;
  kept.set(persona, (held = new Set(["workspace", "everyone", user(persona)])));
  const mirrors = mirrorsOf(model);
  for (const [source, who] of model.joins) {
    const tellers = mirrors.map(({ mirror }) => mirror);
    if (who === persona && isActive(tellers, source, model.now)) held.add(source);
  }
  const groups = new Map<Principal, readonly Principal[]>(model.groups);
  for (const where of mirrors) {
    for (const each of where.mirror.groups) groups.set(each.group, believedMembers(where, each, model.now));
  }
  for (let before = 0; before < held.size;) {
    before = held.size;
    for (const [group, members] of groups) if (members.some((member) => held.has(member))) held.add(group);
  }
  return held;
}

/** The connectors whose permissions are those of their sources. */
export function mirrorsOf({ connectors }: Pick<Model, "connectors">) {
  return connectors.flatMap((where) => (where.mirror ? [mirrored(where, where.mirror)] : []));
}

function mirrored({ connectorId, owner }: ModelConnector, mirror: Mirror) {
  return { connectorId, owner: user(owner), mirror };
}

export function user(persona: Persona): Principal {
  return `user:${userIdOf(persona)}`;
}
