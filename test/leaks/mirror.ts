/**
 * Sources whose permissions are mirrored, as plain data: what each said of its items, groups and users, and when. Who may
 * read what is worked out from that alone, with none of the program's code.
 */
import type { Principal, SourceAccess } from "#core/principals.ts";

export const HOUR_MS = 3_600_000;
/** As long as nothing else is set, so long is a source believed. */
export const MAX_AGE_MS = 24 * HOUR_MS;
/** The one instance of which all these sources are. */
export const BASE_URL = "https://wiki.acme.test";

/** How the source answers in a round: all of it, some of it, every change from its feed, or with a failure. */
export type Outcome = "proof" | "partial" | "feed" | "unavailable" | "unauthorized";

/** One time that a source is asked for everything. */
export interface Round {
  at: number;
  outcome: Outcome;
  /** Spaces of which it says one thing for all that is in them. */
  spaces: Readonly<Record<string, "refused" | "not_looked_at" | "gone" | "listed">>;
  /** Whether it was asked for its items, and for its people: whole, or for what changed. The source writes it down. */
  isHeard: boolean;
  people: "whole" | "changes" | null;
}

/** What a source says of a thing in a round; nothing = it does not name it. */
export type Told<T> = T | "not_looked_at" | undefined;

export interface MirrorGroup {
  group: Principal;
  canary: string;
  /** The space that it is of, with which it ends; null = none. */
  space: string | null;
  /** By round: its members, or that the source does not show them, where it tells of groups between its items. */
  told: (Told<readonly Principal[]> | "refused")[];
}

export interface MirrorUser {
  user: Principal;
  /** Stands in what they are called. */
  canary: string;
  /** Stands in their id. */
  idCanary: string;
  email: string | null;
  /** By round. */
  told: Told<"active" | "suspended" | "gone">[];
}

/** What a source says of an item in a round. `access` alone says who may read it, and nothing else; `space`: it has moved. */
export type Look =
  | { says: "item"; access: SourceAccess | null; space?: string }
  | { says: "access"; access: SourceAccess | null }
  | { says: "refused" | "not_looked_at" | "failed" | "deleted" | "nothing" };

export interface MirroredItem {
  /** Where it was at first. */
  space: string;
  /** The kbId of the item that it answers, which says nothing of who may read either. */
  replyTo: string | null;
  /** It stands below another item: anyone who may not read that may not read it. */
  isPart: boolean;
  /** The source user who wrote it. */
  authorId: string;
  /** By round. */
  looks: Look[];
}

export interface Mirror {
  rounds: Round[];
  /** Whether it tells its groups between its items, or in runs of their own. */
  tellsGroupsIn: "identities" | "sync";
  groups: MirrorGroup[];
  users: MirrorUser[];
}

interface Where {
  connectorId: string;
  /** Principal of the connector's owner. */
  owner: Principal;
  mirror: Mirror;
}

export const sourceUser = (id: string): Principal => `user:mirror:${BASE_URL.slice("https://".length)}:${id}`;
export const sourceGroup = (connectorId: string, id: string): Principal => `group:${connectorId}:${id}`;

const isAnswer = ({ isHeard, outcome }: Round) => isHeard && outcome !== "unavailable" && outcome !== "unauthorized";

/** Where an item is at its source in a round, whether the source says so or not. */
export function spaceAt({ space, looks }: MirroredItem, at: number): string {
  let last = space;
  for (const look of looks.slice(0, at + 1)) if (look?.says === "item") last = look.space ?? last;
  return last;
}

/** What a source says of all in a space, and of nothing in it by itself. */
export function shutIn({ spaces }: Round, space: string): "refused" | "not_looked_at" | "gone" | undefined {
  const said = spaces[space];
  return said === "listed" ? undefined : said;
}

const isYoung = (at: number | null, now: number) => at !== null && at + MAX_AGE_MS > now;

/** Whom a source may name at all; everybody else is left out of its lists. */
function mayBeNamed({ connectorId, owner }: Where, principal: Principal): boolean {
  const isUser = principal.startsWith(sourceUser(""));
  return (
    isUser || principal.startsWith(sourceGroup(connectorId, "")) || principal === "everyone" || principal === owner
  );
}

/** When all of a connector was last known to be as its source has it, before a round; null = never. */
function provenAt({ rounds }: Mirror, before = rounds.length): number | null {
  let at: number | null = null;
  for (const round of rounds.slice(0, before)) {
    // The first time nothing was there that could have been old.
    if (isAnswer(round) && (at === null || round.outcome !== "partial")) at = round.at;
  }
  return at;
}

/** Whether the source refused everything when it was asked last. */
export function isShut({ rounds }: Mirror): boolean {
  const last = rounds.findLast((round) => isAnswer(round) || (round.isHeard && round.outcome === "unauthorized"));
  return last?.outcome === "unauthorized";
}

/** An item as the server must know it. */
export interface KnownItem {
  access: SourceAccess | null;
  /** When somebody last looked who may read it. */
  lookedAt: number;
}

/** An item between two rounds; `home` is the space that it was last told in. */
interface Believed {
  access: SourceAccess | null;
  home: string;
  /** Null = with its connector. */
  at: number | null;
  /** It could not be looked at. */
  isExcepted: boolean;
  /** Its content could not be read: what is held of it may be of before, and gets no wider readers by a look at them alone. */
  isFormer: boolean;
}

/** What the source has said of an item up to now; undefined = it is not there. */
export function knownItem(where: Where, item: MirroredItem): KnownItem | undefined {
  const { mirror } = where;
  let known: Believed | undefined;
  for (const [at, round] of mirror.rounds.entries()) if (isAnswer(round)) known = after(where, item, at, known);
  return known && { access: known.access, lookedAt: known.at ?? provenAt(mirror) ?? Number.NEGATIVE_INFINITY };
}

/** An item after a round. The spaces come first, then the item, then what was not looked at. */
function after(where: Where, item: MirroredItem, at: number, before: Believed | undefined): Believed | undefined {
  const { mirror } = where;
  const round = mirror.rounds[at];
  if (!round) return before;
  const aclAt = provenAt(mirror, at) ?? round.at;
  const home = spaceAt(item, at);
  const look: Look = (shutIn(round, home) === undefined && item.looks[at]) || { says: "nothing" };
  const ofHome = before && round.spaces[before.home];
  // While nearly everything is young, a look at one item is written down for none.
  const isLate = round.at - aclAt > MAX_AGE_MS * 0.75;
  const seen = (access: SourceAccess | null, space: string): Believed => ({
    access: narrowed(where, access),
    home: space,
    at: isLate && round.outcome === "partial" ? round.at : null,
    isExcepted: false,
    isFormer: false,
  });
  const seenAlone = (access: SourceAccess | null, { access: former, home: at, isFormer }: Believed): Believed => {
    const now = seen(access, at);
    return isFormer ? { ...now, access: bothOf(former, now.access, item.isPart), isFormer } : now;
  };
  const except = (known: Believed): Believed => ({ ...known, at: known.at ?? aclAt, isExcepted: true });
  const refuse = (known: Believed): Believed => ({ ...known, at: Number.NEGATIVE_INFINITY, isExcepted: true });
  let known = ofHome === "gone" ? undefined : before;
  if (known && ofHome === "refused") known = refuse(known);
  switch (look.says) {
    case "item":
      known = seen(look.access, home);
      break;
    case "access":
      if (known) known = seenAlone(look.access, known);
      break;
    case "refused":
      if (known) known = refuse(known);
      break;
    case "failed":
      if (known) known = { ...except(known), isFormer: true };
      break;
    case "not_looked_at":
      if (known) known = ofHome === "listed" ? undefined : except(known);
      break;
    case "deleted":
      known = undefined;
      break;
    case "nothing":
      if (ofHome === "listed" || (round.outcome === "proof" && ofHome === undefined)) known = undefined;
      // Its feed would have told of it, where it looked: elsewhere a look of its own stands.
      if (known && round.outcome === "feed" && !known.isExcepted && ofHome !== "not_looked_at")
        known = { ...known, at: null };
  }
  return known && round.spaces[known.home] === "not_looked_at" ? except(known) : known;
}

/** Whom both let in. A part that names nobody is for the readers of the whole, anything else for nobody. */
function bothOf(one: SourceAccess | null, other: SourceAccess | null, isPart: boolean): SourceAccess | null {
  if (one === null) return isPart ? other : null;
  if (other === null || !one.known) return one;
  return other.known ? { known: true, all: [...one.all, ...other.all] } : other;
}

function narrowed(where: Where, access: SourceAccess | null): SourceAccess | null {
  if (access === null || !access.known) return access;
  return { known: true, all: access.all.map((list) => list.filter((each) => mayBeNamed(where, each))) };
}

/** Who is in a group of a source, as far as that is believed at a time. */
export function believedMembers(where: Where, { group, space, told }: MirrorGroup, now: number): readonly Principal[] {
  const { mirror } = where;
  const isInSync = mirror.tellsGroupsIn === "sync";
  let known: { members: readonly Principal[]; at: number; isExcepted: boolean } | undefined;
  for (const [at, round] of mirror.rounds.entries()) {
    if (isInSync ? !isAnswer(round) : round.people === null) continue;
    const said = told[at];
    const isListed = isInSync && space !== null && round.spaces[space] === "listed";
    const isWhole = isListed || (isInSync ? round.outcome === "proof" : round.people === "whole");
    if (Array.isArray(said)) known = { members: said, at: round.at, isExcepted: false };
    else if (said === "refused" || (isListed && said === "not_looked_at") || (said === undefined && isWhole))
      known = undefined;
    else if (known && said === "not_looked_at") known.isExcepted = true;
    // What was told follows the feed, until it could not be looked at.
    if (known && isInSync && round.outcome === "feed" && !known.isExcepted) known.at = round.at;
  }
  if (!known || !isYoung(known.at, now)) return [];
  return known.members.filter((member) => member !== group && mayBeNamed(where, member));
}

/** What a source has said of one of its users up to now; undefined = nothing that holds. */
export function knownUser({ rounds }: Mirror, { told }: MirrorUser) {
  let known: { state: "active" | "suspended" | "gone"; at: number } | undefined;
  for (const [at, { people, at: saidAt }] of rounds.entries()) {
    const said = told[at];
    if (people === "whole" && said === undefined) known = undefined;
    if (people !== null && said !== undefined && said !== "not_looked_at") known = { state: said, at: saidAt };
  }
  return known;
}

/** Whether a user of a source counts: somebody says that they are active, and nobody says otherwise. */
export function isActive(mirrors: readonly Mirror[], user: Principal, now: number): boolean {
  const said = mirrors.flatMap((mirror) =>
    mirror.users.flatMap((each) => (each.user === user ? (knownUser(mirror, each) ?? []) : [])),
  );
  return said.every(({ state }) => state === "active") && said.some(({ at }) => isYoung(at, now));
}

/** Whether who may read an item is still believed at a time. */
export function isItemYoung({ lookedAt }: KnownItem, now: number): boolean {
  return isYoung(lookedAt, now);
}
