import { defined } from "#core/defined.ts";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { AccountProvider } from "#sources/account-contract.ts";

/** Slack, with the person's own token instead of the app's. */
export const slack: AccountProvider = {
  providerId: "slack",
  name: "Slack",
  usual: { baseUrl: "https://slack.com", apiUrl: "https://slack.com/api", tokenBase: "https://slack.com/api" },
  apiUrl: "{+baseUrl}/api",
  instance: "baseUrl",
  origins: ["https://files.slack.com"],
  oauth: {
    authorizeUrl: "{+baseUrl}/oauth/v2/authorize",
    tokenUrl: "{+apiUrl}/oauth.v2.access",
    scopeParameter: "user_scope",
    scopes: [
      "users:read",
      "team:read",
      "channels:read",
      "channels:history",
      "groups:read",
      "groups:history",
      "files:read",
    ],
    hasPkce: false,
    tokensIn: "authed_user",
    async revoke(http, { place: { apiUrl }, secrets: { accessToken } }) {
      const headers = { authorization: `Bearer ${accessToken}` };
      await http.request({ method: "POST", url: `${apiUrl}/auth.revoke`, headers });
    },
    setUp: {
      url: "https://api.slack.com/apps?new_app=1",
      steps: "Create an app for your workspace, add the user token scopes below, and turn on token rotation.",
    },
  },
  limits: { perMinute: 50 },
  async whoami(http, { apiUrl }) {
    const answer = await http.request({ method: "POST", url: `${apiUrl}/auth.test`, auth: true, isIdempotent: true });
    const body = answer.json(Said);
    if (!body.ok) {
      // Slack returns errors with status 200.
      throw new ApiError(LATER.has(body.error ?? "") ? "source_unavailable" : "source_unauthorized", {
        message: "Slack does not accept this token.",
      });
    }
    const { user_id, team_id, user, team } = body;
    const scopes = answer.headers
      .get("x-oauth-scopes")
      ?.split(",")
      .filter((scope) => scope !== "");
    return {
      id: user_id,
      tenantId: team_id,
      ...defined({ login: user }),
      label: `${user ?? user_id}, ${team ?? team_id}`,
      ...(scopes && { scopes }),
    };
  },
};

/** Errors that don't concern the token. */
const LATER = new Set(["internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"]);

const Said = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    user_id: z.string().min(1),
    team_id: z.string().min(1),
    user: z.string().optional(),
    team: z.string().optional(),
  }),
  z.object({ ok: z.literal(false), error: z.string().optional() }),
]);
