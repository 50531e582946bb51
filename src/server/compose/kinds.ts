import type { Source } from "#sources/contract.ts";
import type { SourceRegistry } from "#sources/registry.ts";

/** The source kinds that this program has, and the subset with each property. */
export type Kinds = Awaited<ReturnType<typeof readKinds>>;

export async function readKinds(sources: Pick<SourceRegistry, "list">) {
  const all = await sources.list();
  const idsOf = (isOfSort: (kind: Source) => boolean) => all.filter(isOfSort).map(({ spec }) => spec.providerId);
  const withPeople = new Set(idsOf(({ spec }) => spec.hasPeople === true));
  const synced = new Set(idsOf(({ sessions }) => sessions !== undefined));
  const lasting = new Set(idsOf(({ spec, sessions }) => spec.acl === "connector" || !sessions));
  return {
    all,
    hasPeople: (providerId: string) => withPeople.has(providerId),
    isSynced: (providerId: string) => synced.has(providerId),
    /** Whether the permissions that the source reports expire. */
    ages: (providerId: string) => !lasting.has(providerId),
    /** The kinds that this process can watch. */
    watched: idsOf(({ watch }) => watch !== undefined),
    /** The kinds whose source subscribes to notifications. */
    subscribing: idsOf(({ webhook }) => webhook?.subscribe !== undefined),
    notified: new Set(idsOf(({ webhook }) => webhook !== undefined)),
  };
}
