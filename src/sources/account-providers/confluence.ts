import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";
import { makeAtlassianHttp } from "#sources/atlassian/client.ts";
import { isCloudAddress } from "#sources/atlassian/config.ts";

/** Confluence Data Center. Its users differ from the users of a Jira site that runs next to it. */
export const confluence: AccountProvider = {
  providerId: "confluence",
  name: "Confluence",
  apiUrl: "{+baseUrl}/rest/api",
  instance: "baseUrl",
  ownTokens: {
    url: "{+baseUrl}/plugins/personalaccesstokens/usertokens.action",
    steps: "In your settings in Confluence Data Center, open Personal Access Tokens and create one.",
    areAt: (baseUrl) => !isCloudAddress(baseUrl),
  },
  async whoami(http, { apiUrl }) {
    // For an unauthenticated request, Confluence returns a user without a key.
    const answer = await makeAtlassianHttp({ http }).send({ url: `${apiUrl}/user/current` });
    const { userKey, username, displayName } = answer.json(User);
    return { id: userKey, login: username, label: displayName ? `${displayName} (${username})` : username };
  },
};

/** The key never changes; the name can. */
const User = z.object({
  userKey: z.string().min(1),
  username: z.string().min(1),
  displayName: z.string().nullish().catch(undefined),
});
