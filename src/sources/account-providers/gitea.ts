import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";

/** Gitea and Forgejo. */
export const gitea: AccountProvider = {
  providerId: "gitea",
  name: "Gitea",
  apiUrl: "{+baseUrl}/api/v1",
  instance: "baseUrl",
  oauth: {
    authorizeUrl: "{+baseUrl}/login/oauth/authorize",
    tokenUrl: "{+baseUrl}/login/oauth/access_token",
    scopes: ["read:user", "read:organization", "read:repository", "read:issue"],
    hasPkce: true,
    issuer: "{+baseUrl}",
    setUp: {
      url: "{+baseUrl}/-/admin/applications",
      steps:
        "In Gitea, open Site Administration > Integrations > Applications (or your own Settings > Applications) and create an OAuth2 application, as a confidential client.",
    },
  },
  ownTokens: {
    url: "{+baseUrl}/user/settings/applications",
    steps: "Create an access token that may read your user, and what your connectors should read.",
  },
  async whoami(http, { apiUrl }) {
    const { id, login, full_name } = (await http.request({ url: `${apiUrl}/user`, auth: true })).json(User);
    return { id: String(id), login, label: full_name ? `${full_name} (${login})` : login };
  },
};

const User = z.object({ id: z.number().int().positive(), login: z.string().min(1), full_name: z.string().optional() });
