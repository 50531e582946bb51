import type { Source } from "#sources/contract.ts";
import type { SourceRegistry } from "#sources/registry.ts";

/** The kinds of sources that this program knows, and which of them are of what sort. */
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
    /** Whether permissions expire. */
    ages: (providerId: string) => !lasting.has(providerId),
    /** Those that this process can watch. */
    watched: idsOf(({ watch }) => watch !== undefined),
    /** Those whose source subscribes to notifications. */
    subscribing: idsOf(({ webhook }) => webhook?.subscribe !== undefined),
    notified: new Set(idsOf(({ webhook }) => webhook !== undefined)),
  };
}
