import type { SqlHandles } from "#storage/handles.ts";
import { nullOr } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { countOf } from "#storage/results.ts";
import { INVITATIONS, MEMBERS } from "#storage/tables/people.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { API_TOKENS } from "#storage/tables/credentials.ts";
import { ITEMS } from "#storage/tables/items.ts";
import { OPEN } from "./people.ts";

/** Counts how much one workspace holds. */
export function makeUsageStore({ read }: SqlHandles, workspaceId: string) {
  async function countMembers(now: number): Promise<number> {
    const members = inWorkspace({ read }, workspaceId, MEMBERS).select();
    const invited = inWorkspace({ read }, workspaceId, INVITATIONS).select(OPEN).where("expiresAt", ">", now);
    return (await countOf(members)) + (await countOf(invited));
  }

  return {
    /** Counts connectors that are not being deleted, members with open invitations, or active tokens. */
    async count(what: "connectors" | "members" | "tokens", now: number): Promise<number> {
      switch (what) {
        case "members":
          return countMembers(now);
        case "connectors":
          return countOf(inWorkspace({ read }, workspaceId, CONNECTORS).select().where("state", "<>", "deleting"));
        case "tokens":
          return countOf(
            inWorkspace({ read }, workspaceId, API_TOKENS)
              .select({ revokedAt: null })
              .where((eb) => nullOr(eb, "expiresAt", ">", now)),
          );
      }
    },

    /** Counts living items and the UTF-16 code units of their texts. Reads a row of each item. */
    async items(): Promise<{ items: number; textChars: number }> {
      const { items, textChars } = await inWorkspace({ read }, workspaceId, ITEMS)
        .select({ removedAt: null })
        .select(({ fn }) => [fn.countAll<number>().as("items"), fn.sum<number | null>("textChars").as("textChars")])
        .executeTakeFirstOrThrow();
      return { items: Number(items), textChars: Number(textChars ?? 0) };
    },
  };
}
