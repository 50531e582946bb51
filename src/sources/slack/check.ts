import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { readChannels } from "./channels.ts";
import { makeClient, type SlackContext } from "./client.ts";

/** Checks whether the token is accepted, returns its workspace, and warns about channels that people may not expect. */
export function checkWorkspace(ctx: SlackContext): Promise<CheckOutcome> {
  return runCheck(ctx, WORDS, async () => {
    const client = makeClient(ctx);
    const { team_id: tenantId } = await client.whoAmI();
    const { rooms, missing } = await readChannels(ctx, client);
    // If the users can't be read, the readers of all items are unknown.
    await client.users().next();
    const warnings = [
      ...(rooms.length === 0 && missing.length === 0
        ? ["The app is in no channel. Type /invite @kb in each channel to read."]
        : []),
      ...(missing.length > 0 ? [`The app can't see ${missing.slice(0, 5).join(", ")}. Type /invite @kb there.`] : []),
    ];
    return { tenantId, warnings };
  });
}

const HINT = "Create the app with the manifest of docs/sources/slack.md, install it, and give its bot token (xoxb-…).";

const WORDS: FailureWords = {
  source_unauthorized: { message: "Slack does not accept this token.", hint: HINT, field: "credentials" },
  source_forbidden: { message: "The token lacks a scope.", hint: HINT, field: "credentials" },
  otherwise: { field: "url" },
};
