import { baseUrlKey } from "#sources/base-url.ts";
import { z } from "zod";
import { FORGE_CHOICES } from "#sources/forge/config.ts";

/** Config of a Gitea or Forgejo server. Unknown keys are errors. */
export const GiteaConfig = z.strictObject({
  url: baseUrlKey("Give an address such as https://git.example.com.").meta({
    title: "Server address",
    description: "Where Gitea or Forgejo is, such as https://git.example.com.",
    fromAccount: "baseUrl",
  }),
  ...FORGE_CHOICES,
});
export type GiteaConfig = z.infer<typeof GiteaConfig>;

export const GiteaCredentials = z.strictObject({
  token: z
    .string()
    .min(1)
    .max(1_000)
    .regex(/^[\x21-\x7e]+$/, "A token has no spaces.")
    .meta({
      title: "Access token",
      format: "password",
      description:
        "Settings > Applications > Generate New Token, with read access to repository, issue, organization and user.",
    }),
});
