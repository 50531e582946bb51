import type { Source } from "#sources/contract.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { readChannels } from "./channels.ts";
import { makeClient, type SlackContext } from "./client.ts";

/** Whether the token is accepted, of which workspace it is, and what of its channels will surprise people. */
export async function checkWorkspace(ctx: SlackContext): ReturnType<Source["check"]> {
  try {
    const client = makeClient(ctx);
    const { team_id: tenantId } = await client.whoAmI();
    const { rooms, missing } = await readChannels(ctx, client);
    // Without the users nobody is known to read anything.
    await client.users().next();
    const warnings = [
      ...(rooms.length === 0 && missing.length === 0
        ? ["The app is in no channel. Type /invite @kb in the channels to read."]
        : []),
      ...(missing.length > 0
        ? [`The app does not see ${missing.slice(0, 5).join(", ")}. Type /invite @kb there.`]
        : []),
    ];
    return { ok: true, tenantId, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    const { code, message, hint, retryAfterMs } = error;
    const isToken = isApiError(error, "source_unauthorized");
    const isScope = isApiError(error, "source_forbidden");
    return {
      ok: false,
      problem: {
        code,
        message: isToken ? "Slack does not accept this token." : isScope ? "The token lacks a scope." : message,
        field: isToken || isScope ? "credentials" : "url",
        ...defined({ hint: isToken || isScope ? HINT : hint, retryAfterMs }),
      },
    };
  }
}

const HINT = "Create the app with the manifest of docs/sources/slack.md, install it, and give its bot token (xoxb-…).";
