import { baseUrlOf } from "#sources/base-url.ts";
import type { Source } from "#sources/contract.ts";
import { type ForgeOptions, makeForgeSource } from "#sources/forge/source.ts";
import { checkGitea } from "./check.ts";
import { GiteaConfig, GiteaCredentials } from "./config.ts";
import { makeGiteaForge } from "./forge.ts";
import { makeGiteaPeople } from "./people.ts";

/** Makes the source for Gitea and Forgejo. */
export function makeGiteaSource(options: ForgeOptions): Source<GiteaConfig> {
  return makeForgeSource<GiteaConfig>(
    {
      providerId: "gitea",
      pullPath: "pulls",
      spec: {
        name: "Gitea",
        auth: [{ type: "account" }, { type: "credentials", scheme: "bearer", token: "token" }],
        credentials: GiteaCredentials,
        config: GiteaConfig,
        // The limit is low because a self-hosted server also serves its users.
        limits: { perMinute: 1_800, burst: 200 },
      },
      hook: {
        signature: ["x-forgejo-signature", "x-gitea-signature"],
        event: ["x-forgejo-event", "x-gitea-event"],
      },
      check: checkGitea,
      open: makeGiteaForge,
      people: makeGiteaPeople,
      baseUrlOf,
    },
    options,
  );
}
