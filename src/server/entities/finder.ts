import type { Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ShownEntity } from "#storage/records/entities.ts";
import type { EntityFinder, NamedEntity } from "./types.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import { foldWords, hasWords, isClose, visibleByEmail, visibleByName } from "./names.ts";

const MAX_FOUND = 50;
const MAX_CLOSE = 5;

export interface EntityFinderDeps {
  policy: Policy;
  index: SearchIndex;
  /** Whether items of this source belong to accounts of people there. */
  hasPeople(providerId: string): boolean;
  /** Returns this user's verified address; undefined if they have none yet. */
  verifiedEmailOf(userId: string): Promise<string | undefined>;
}

/** Makes the lookup of entities. All results come from items that the reader may see (S9, S11). */
export function makeEntityFinder({ policy, index, hasPeople, verifiedEmailOf }: EntityFinderDeps): EntityFinder {
  const finder: EntityFinder = {
    async me(actor) {
      const viewer = await policy.viewerOf(actor);
      const own = viewer.principals.filter((principal) => principal.startsWith("user:"));
      const entityIds = await policy.readList(actor, async ({ store }) => {
        const ids = await Promise.all(own.map((principal) => store.entities.findByIdentity("person", principal)));
        return ids.filter((id) => id !== undefined);
      });
      const linked = new Set(own.map((principal) => principal.split(":")[1]));
      const { facets } = await index.search({
        workspaceId: actor.workspaceId,
        viewer,
        query: "",
        filters: {},
        order: "recency",
        limit: 0,
        facets: ["provider"],
      });
      const providers = (facets.provider ?? []).map(({ value }) => value);
      const unlinked = providers.filter((provider) => hasPeople(provider) && !linked.has(provider));
      const email = await verifiedEmailOf(actor.userId);
      const named = email === undefined ? [] : await policy.readList(actor, (open) => visibleByEmail(open, email));
      const claims = named.filter(({ entityId }) => !entityIds.includes(entityId)).map(toNamed);
      return { found: await finder.named(actor, entityIds), claims, unlinked };
    },

    byName(actor, text, types) {
      const words = foldWords(text);
      const isWanted = ({ type }: ShownEntity) => (type === "person") === (types === "person");
      return policy.readList(actor, async (open) => {
        if (words.length === 0) return { found: [], close: [] };
        const fitting = (await visibleByName(open, (key) => hasWords(key, words), 500)).filter(isWanted);
        const exact = fitting.filter((one) => isExactly(one, words));
        const found = exact.length > 0 ? exact : fitting;
        if (found.length > 0) return { found: found.slice(0, MAX_FOUND).map(toNamed), close: [] };
        const close = (await visibleByName(open, (key) => isClose(key, words), 100)).filter(isWanted);
        return { found: [], close: close.slice(0, MAX_CLOSE).map(toNamed) };
      });
    },

    async named(actor, entityIds) {
      const named: NamedEntity[] = [];
      for (const entityId of new Set(entityIds)) {
        const shown = await shownBy(policy, index, actor, entityId);
        if (shown !== undefined) named.push(toNamed(shown));
      }
      return named;
    },
  };
  return finder;
}

/** Returns the entity as the newest visible item shows it. */
async function shownBy(policy: Policy, index: SearchIndex, actor: Actor, entityId: string) {
  const viewer = await policy.viewerOf(actor);
  const request = { workspaceId: actor.workspaceId, viewer, query: "", order: "recency", limit: 3 } as const;
  const people = await index.search({ ...request, filters: { people: [entityId] } });
  const { hits } =
    people.hits.length > 0 ? people : await index.search({ ...request, filters: { containers: [entityId] } });
  const kbIds = hits.map(({ kbId }) => kbId);
  return policy.readVisible(actor, kbIds, async ({ store, visible }) => {
    const shown = await store.entities.shownOn(kbIds.filter((kbId) => visible.has(kbId)));
    return shown.find((one) => one.entityId === entityId);
  });
}

/** Whether the words are the entity's whole name, login or email address. */
function isExactly(one: ShownEntity, words: readonly string[]): boolean {
  const asked = words.join(" ");
  return [one.name, one.login, one.email].some((text) => text !== null && foldWords(text).join(" ") === asked);
}

function toNamed({ entityId, type, name, email }: ShownEntity): NamedEntity {
  return { entityId, type, name, email };
}
