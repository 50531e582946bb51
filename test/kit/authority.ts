import { loadAuthority } from "#server/connectors/authority.ts";
import type { Authority } from "#core/principals.ts";
import { contextOf, INSTANCE, type KitFixture } from "./fixture.ts";

/** What the connector of the fixture may name, as the engine finds it: every group that its config names is there. */
export async function authorityIn(fixture: KitFixture): Promise<Authority> {
  const { connector } = contextOf(fixture);
  const groups = { whichOf: async (ids: readonly string[]) => new Set(ids) };
  const record = {
    connectorId: connector.id,
    providerId: fixture.source.spec.providerId,
    ownerUserId: OWNER,
    // A parsed config of a strict object schema is one.
    config: fixture.config as Readonly<Record<string, unknown>>,
  };
  const instance = fixture.source.spec.hasPeople ? { name: INSTANCE, isRegistered: true } : undefined;
  return loadAuthority({ groups } as Parameters<typeof loadAuthority>[0], fixture.source, record, instance);
}

const OWNER = "usr_aaaaaaaaaaaaaaaa";
