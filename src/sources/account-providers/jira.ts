import { z } from "zod";
import type { AccountProvider } from "#sources/account-contract.ts";
import { makeAtlassianHttp } from "#sources/atlassian/client.ts";
import { isCloudAddress } from "#sources/atlassian/config.ts";

/** Jira Data Center only: on Cloud, personal tokens don't work without an email address. */
export const jira: AccountProvider = {
  providerId: "jira",
  name: "Jira",
  apiUrl: "{+baseUrl}/rest/api/2",
  instance: "baseUrl",
  ownTokens: {
    url: "{+baseUrl}/secure/ViewProfile.jspa?selectedTab=com.atlassian.pats.pats-plugin:jira-user-personal-access-tokens",
    steps: "In your profile in Jira Data Center, open Personal Access Tokens and create one.",
    areAt: (baseUrl) => !isCloudAddress(baseUrl),
  },
  async whoami(http, { apiUrl }) {
    const { key, name, displayName } = (await makeAtlassianHttp({ http }).send({ url: `${apiUrl}/myself` })).json(User);
    return { id: key, login: name, label: displayName ? `${displayName} (${name})` : name };
  },
};

/** The key never changes; the name can. */
const User = z.object({
  key: z.string().min(1),
  name: z.string().min(1),
  displayName: z.string().nullish().catch(undefined),
});
