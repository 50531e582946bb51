import { baseUrlOf } from "#sources/base-url.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { makeClient } from "./client.ts";
import { type MatrixContext, roomsOf } from "./rooms.ts";

/** Checks whether the server accepts the account, and warns about rooms that people may not expect. */
export function checkAccount(ctx: MatrixContext): Promise<CheckOutcome> {
  return runCheck(ctx, wordsOf(new URL(baseUrlOf(ctx.config)).host), async () => {
    const client = makeClient(ctx);
    const { user_id: userId } = await client.whoAmI();
    const { rooms } = roomsOf(await client.rooms(), ctx.config);
    const encrypted = rooms.filter(({ isEncrypted }) => isEncrypted).length;
    const restricted = rooms.filter(({ isRestricted }) => isRestricted).length;
    const warnings = [
      ...(rooms.length === 0
        ? [`${userId} is in no room. Invite this account to the rooms to read, and accept the invitations.`]
        : []),
      ...(encrypted > 0 ? [`${count(encrypted)} encrypted. kb can't read their messages.`] : []),
      ...(restricted > 0
        ? [`${count(restricted)} readable only for people who were there at the time. kb leaves out their messages.`]
        : []),
    ];
    return { warnings };
  });
}

function count(rooms: number): string {
  return rooms === 1 ? "1 room is" : `${rooms} rooms are`;
}

function wordsOf(host: string): FailureWords {
  const noHomeserver = { message: `${host} does not answer as a Matrix homeserver.`, hint: HINT, field: "url" };
  return {
    source_unauthorized: {
      message: `${host} does not accept this access token (HTTP 401).`,
      hint: "Sign in again and give the new token: docs/sources/matrix.md says how.",
      field: "credentials",
    },
    source_not_found: noHomeserver,
    source_forbidden: noHomeserver,
    otherwise: { hint: HINT, field: "url" },
  };
}

const HINT = "Give the homeserver's own address: https://<your domain>/.well-known/matrix/client names it as base_url.";
