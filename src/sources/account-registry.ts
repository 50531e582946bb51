import type { AccountProvider } from "./account-contract.ts";

/**
 * Loads every service where people can connect accounts. To add a service, add a file and a line here:
 * docs/add-a-source.md.
 */
export async function loadAccountProviders(): Promise<AccountProvider[]> {
  return Promise.all([
    import("./account-providers/gitea.ts").then(({ gitea }) => gitea),
    import("./account-providers/github.ts").then(({ github }) => github),
    import("./account-providers/google.ts").then(({ google }) => google),
    import("./account-providers/slack.ts").then(({ slack }) => slack),
    import("./account-providers/matrix.ts").then(({ matrix }) => matrix),
    import("./account-providers/jira.ts").then(({ jira }) => jira),
    import("./account-providers/confluence.ts").then(({ confluence }) => confluence),
  ]);
}
