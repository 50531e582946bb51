/** What mirrored sources say next: of people who come and go, of items that change hands, of what they refuse. */
import type { Principal } from "#core/principals.ts";
import {
  believedMembers,
  knownItem,
  knownUser,
  type Look,
  type Mirror,
  type MirrorGroup,
  type MirrorUser,
  type Outcome,
  type Round,
} from "./mirror.ts";
import { mirrorsOf, type Model, type ModelItem, type Random } from "./model.ts";

/** How a source answers, and what it says otherwise than that all is as it was. */
export interface Saying {
  outcome?: Outcome;
  spaces?: Round["spaces"];
  groups?: (group: MirrorGroup, members: readonly Principal[]) => MirrorGroup["told"][number];
  users?: (user: MirrorUser) => MirrorUser["told"][number];
  items?: (item: ModelItem, look: Look) => Look;
}

/** Adds a round to every mirrored source, in which it says that all is as it was last known, but for what `saying` says. */
export function addRound(model: Model, at: number, saying: (connectorId: string) => Saying): void {
  for (const where of mirrorsOf(model)) {
    const { connectorId, mirror } = where;
    const { outcome = "proof", spaces = {}, groups, users, items } = saying(connectorId);
    for (const each of mirror.groups) {
      const last = lastMembers(each);
      each.told[mirror.rounds.length] = groups ? groups(each, last) : last;
    }
    for (const each of mirror.users) each.told[mirror.rounds.length] = users ? users(each) : "active";
    for (const item of model.items) {
      if (item.connectorId !== connectorId || !item.mirrored) continue;
      const known = knownItem(where, item.mirrored);
      // What is gone stays so, unless somebody says otherwise.
      const last: Look = known ? { says: "item", access: item.access } : { says: "nothing" };
      item.mirrored.looks[mirror.rounds.length] = items ? items(item, last) : last;
    }
    mirror.rounds.push({ at, outcome, spaces, isHeard: false, people: null });
  }
}

function lastMembers({ told }: MirrorGroup): readonly Principal[] {
  return told.findLast((said) => Array.isArray(said)) ?? [];
}

/** After a round was heard: a person whom its source no longer knows as active is nobody here, until they are joined again. */
export function endJoins(model: Model): void {
  const mirrors = mirrorsOf(model);
  for (const user of model.joins.keys()) {
    const tellers = mirrors.filter(({ mirror }) => mirror.users.some((each) => each.user === user));
    const said = tellers.flatMap(({ mirror }) =>
      mirror.users.filter((each) => each.user === user).map((each) => ({ mirror, each })),
    );
    // Whom an address joins is joined by it again.
    if (said.some(({ each }) => each.email !== null)) continue;
    const isEnded = said.some(({ mirror, each }) => {
      const known = knownUser(mirror, each);
      return known !== undefined && known.state !== "active";
    });
    const [first] = said;
    const hasVanished = first !== undefined && knownUser(first.mirror, first.each) === undefined;
    if (isEnded || hasVanished) model.joins.delete(user);
  }
}

const SPACES = ["open", "far", "shut"];

/** Items that may go in one round: with more of them in a day they would wait for somebody's consent. */
const MOST_GONE = 3;

/** Anything may be said: of each thing something else, and now and then nothing. */
export function sayAnything(random: Random, model: Model, now: number): (connectorId: string) => Saying {
  return (connectorId) => {
    let left = MOST_GONE;
    const where = mirrorsOf(model).find((one) => one.connectorId === connectorId);
    const members = (where?.mirror.groups ?? []).flatMap((each) => (where ? believedMembers(where, each, now) : []));
    const accesses = model.items.filter((item) => item.connectorId === connectorId).map(({ access }) => access);
    return {
      outcome: random.pick(["proof", "proof", "partial", "partial", "feed", "feed", "unavailable", "unauthorized"]),
      spaces: random.chance(0.5)
        ? { [random.pick(SPACES)]: random.pick(["refused", "not_looked_at", "listed", "listed"]) }
        : {},
      groups: (_group, last) => {
        const dice = random.next();
        if (dice < 0.55) return last;
        if (dice < 0.63) return "not_looked_at";
        if (dice < 0.7) return where?.mirror.tellsGroupsIn === "sync" ? "refused" : "not_looked_at";
        if (dice < 0.8) return undefined;
        if (dice < 0.9 || members.length === 0) return last.slice(1);
        return [...new Set([...last, random.pick(members)])];
      },
      users: () => {
        const dice = random.next();
        if (dice < 0.65) return "active";
        if (dice < 0.85) return "not_looked_at";
        return dice < 0.93 ? undefined : "suspended";
      },
      items: (item, last) => {
        const dice = random.next();
        if (dice < 0.5) return last;
        // It moves, to where others read.
        if (dice < 0.65) {
          if (random.chance(0.5)) item.access = random.pick(accesses);
          return { says: "item", access: item.access, space: random.pick(SPACES) };
        }
        if (dice < 0.75) {
          item.access = random.pick(accesses);
          return { says: item.access === null ? "item" : "access", access: item.access };
        }
        if (dice < 0.82) return { says: "refused" };
        if (dice < 0.89) return { says: "not_looked_at" };
        if (dice < 0.94) return { says: "failed" };
        if (left-- <= 0) return last;
        return { says: random.chance(0.5) ? "deleted" : "nothing" };
      },
    };
  };
}

/** The same model of which nothing is shared with the first: what its sources say next is said to one server alone. */
export function ownModel(model: Model): Model {
  const copy = (mirror: Mirror): Mirror => structuredClone(mirror);
  return {
    ...model,
    connectors: model.connectors.map((one) => (one.mirror ? { ...one, mirror: copy(one.mirror) } : one)),
    items: model.items.map((item) => structuredClone(item)),
    joins: new Map(model.joins),
  };
}
