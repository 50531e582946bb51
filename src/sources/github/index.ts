import type { Source } from "#sources/contract.ts";
import { type ForgeOptions, makeForgeSource } from "#sources/forge/source.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { checkGithub } from "./check.ts";
import { GITHUB_API, GithubConfig, GithubCredentials, webUrlOf } from "./config.ts";
import { makeGithubForge } from "./forge.ts";
import { makeGithubPeople } from "./people.ts";

/** Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api */
export const LIMITS: LimitSpec = {
  perMinute: 720,
  burst: 200,
  windows: [{ remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset", unit: "epoch_seconds" }],
  forbidden: [
    { header: "x-ratelimit-remaining", value: "0" },
    { header: "retry-after" },
    { phrase: "secondary rate limit" },
    { phrase: "abuse detection" },
    { phrase: "API rate limit exceeded" },
  ],
  leastWaitMs: 60_000,
};

/** Makes the source for GitHub and GitHub Enterprise. */
export function makeGithubSource({
  limits = LIMITS,
  ...options
}: ForgeOptions & { limits?: LimitSpec }): Source<GithubConfig> {
  return makeForgeSource<GithubConfig>(
    {
      providerId: "github",
      pullPath: "pull",
      spec: {
        name: "GitHub",
        auth: [
          { type: "account" },
          { type: "credentials", scheme: "bearer", token: "token" },
          {
            type: "credentials",
            scheme: "installation",
            appId: "appId",
            privateKey: "privateKey",
            installation: "installation",
            tokenUrl: "{+apiUrl}/app/installations/{installation}/access_tokens",
          },
        ],
        // A missing key is absent, never undefined.
        credentials: GithubCredentials as unknown as NonNullable<Source["spec"]["credentials"]>,
        config: GithubConfig,
        instances: [GITHUB_API],
        links: {
          hosts: [/(?:^|\.)github\.com$/],
          tails: [{ pattern: /^(\/[^/]+\/[^/]+\/pull\/\d+)\/(?:files|commits|checks)(?:\/.*)?$/, kept: "$1" }],
        },
        limits,
      },
      hook: { signature: ["x-hub-signature-256"], prefix: "sha256=", event: ["x-github-event"] },
      check: checkGithub,
      open: makeGithubForge,
      people: makeGithubPeople,
      gitOriginOf: (config) => new URL(webUrlOf(config)).origin,
      baseUrlOf: ({ apiUrl }) => apiUrl,
    },
    options,
  );
}
