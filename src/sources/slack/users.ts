import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Failures } from "#sources/failures.ts";
import type { SlackClient } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { displayNameOf, type KnownUser } from "./map.ts";

const Kept = z.object({ name: z.string(), team: z.string().optional(), at: z.number() });

/** The time after which a name is requested again. */
const KEPT_MS = 7 * 86_400_000;

interface Tools {
  ctx: Pick<SyncContext<SlackConfig>, "state" | "now">;
  client: SlackClient;
  users: Map<string, KnownUser>;
  failures: Pick<Failures, "requireOfOne">;
}

/**
 * Looks up names of authors and mentioned people. Each is requested once, and kept for a week. If Slack fails, a person
 * keeps the last known name, or is shown by ID: no message is left out because of a missing name.
 */
export async function learnUsers({ ctx, client, users, failures }: Tools, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if (users.has(id)) continue;
    const kept = Kept.safeParse(await ctx.state.get(`user:${id}`)).data;
    if (kept && ctx.now() - kept.at < KEPT_MS) {
      users.set(id, kept);
      continue;
    }
    try {
      const user = await client.user(id);
      const known = { name: displayNameOf(user), team: user.is_stranger ? "" : user.team_id };
      users.set(id, known);
      ctx.state.put(`user:${id}`, { ...known, at: ctx.now() });
    } catch (error) {
      if (!isApiError(error, "source_not_found")) await failures.requireOfOne(error);
      users.set(id, { name: kept?.name ?? id });
    }
  }
}
