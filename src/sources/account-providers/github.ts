import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";

/** GitHub, including GitHub Enterprise Server. */
export const github: AccountProvider = {
  providerId: "github",
  name: "GitHub",
  usual: { baseUrl: "https://github.com", apiUrl: "https://api.github.com", tokenBase: "https://github.com" },
  apiUrl: "{+baseUrl}/api/v3",
  instance: "apiUrl",
  // The git program clones repositories from this origin with the same token.
  origins: ["{+baseUrl}"],
  oauth: {
    authorizeUrl: "{+baseUrl}/login/oauth/authorize",
    tokenUrl: "{+tokenBase}/login/oauth/access_token",
    // A GitHub App ignores the scopes: its own permissions apply.
    scopes: ["repo", "read:org", "read:user"],
    hasPkce: true,
    async revoke(http, { place: { apiUrl }, client: { clientId, clientSecret }, secrets: { accessToken } }) {
      const basic = Buffer.from(`${clientId}:${clientSecret ?? ""}`).toString("base64");
      await http.request({
        method: "DELETE",
        url: `${apiUrl}/applications/${encodeURIComponent(clientId)}/token`,
        headers: { authorization: `Basic ${basic}`, accept: "application/vnd.github+json" },
        json: { access_token: accessToken },
        allow: [404, 422],
      });
    },
    setUp: {
      url: "{+baseUrl}/settings/apps/new",
      steps:
        "Create a GitHub App with read access to contents, issues, pull requests, metadata and organization members, or an OAuth app. Leave “Expire user authorization tokens” on.",
    },
  },
  ownTokens: {
    url: "{+baseUrl}/settings/tokens",
    steps: "Create a personal access token that may read what your connectors should read.",
  },
  limits: {
    windows: [{ remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset", unit: "epoch_seconds" }],
    forbidden: [{ header: "x-ratelimit-remaining", value: "0" }, { phrase: "secondary rate limit" }],
  },
  async whoami(http, { apiUrl }) {
    const answer = await http.request({
      url: `${apiUrl}/user`,
      auth: true,
      headers: { accept: "application/vnd.github+json" },
    });
    const { id, login, name } = answer.json(User);
    const scopes = answer.headers
      .get("x-oauth-scopes")
      ?.split(",")
      .map((scope) => scope.trim())
      .filter((scope) => scope !== "");
    return { id: String(id), login, label: name ? `${name} (${login})` : login, ...(scopes && { scopes }) };
  },
};

const User = z.object({ id: z.number().int().positive(), login: z.string().min(1), name: z.string().nullish() });
