import type { SourceProblem } from "#api/common.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { makeClient } from "./client.ts";
import { baseUrlOf } from "./config.ts";
import { type MatrixContext, roomsOf } from "./rooms.ts";

type Outcome = { ok: true; warnings?: string[] } | { ok: false; problem: SourceProblem };

/** Whether the account is known there, and what of its rooms will surprise people. */
export async function checkAccount(ctx: MatrixContext): Promise<Outcome> {
  try {
    const client = makeClient(ctx);
    const { user_id: userId } = await client.whoAmI();
    const { rooms } = roomsOf(await client.rooms(), ctx.config);
    const encrypted = rooms.filter(({ isEncrypted }) => isEncrypted).length;
    const restricted = rooms.filter(({ isRestricted }) => isRestricted).length;
    const warnings = [
      ...(rooms.length === 0 ? [`${userId} is in no room. Invite it to the rooms to read, and accept.`] : []),
      ...(encrypted > 0 ? [`${count(encrypted)} encrypted. kb can't read what is said there.`] : []),
      ...(restricted > 0
        ? [`${count(restricted)} only for who was there at the time. kb leaves out what is said there.`]
        : []),
    ];
    return { ok: true, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, problem: problemOf(error, new URL(baseUrlOf(ctx.config)).host) };
  }
}

function count(rooms: number): string {
  return rooms === 1 ? "1 room is" : `${rooms} rooms are`;
}

function problemOf(error: ApiError, host: string): SourceProblem {
  const { code, message, hint, retryAfterMs } = error;
  if (isApiError(error, "source_unauthorized")) {
    return {
      code,
      message: `${host} does not accept this access token (HTTP 401).`,
      hint: "Sign in again and give the new token: docs/sources/matrix.md says how.",
      field: "credentials",
    };
  }
  const isNoHomeserver = isApiError(error, "source_not_found") || isApiError(error, "source_forbidden");
  return {
    code,
    message: isNoHomeserver ? `${host} does not answer as a Matrix homeserver.` : message,
    field: "url",
    ...defined({ hint: hint ?? HINT, retryAfterMs }),
  };
}

const HINT = "Give the homeserver's own address: https://<your domain>/.well-known/matrix/client names it as base_url.";
