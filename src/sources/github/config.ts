import { baseUrlKey } from "#sources/base-url.ts";
import { z } from "zod";
import { normalizeBaseUrl } from "#core/base-url.ts";
import { FORGE_CHOICES } from "#sources/forge/config.ts";

export const GITHUB_API = "https://api.github.com";

/** Config of GitHub. Unknown keys are errors. */
export const GithubConfig = z.strictObject({
  apiUrl: baseUrlKey("Give an address such as https://github.example.com/api/v3.")
    .default(GITHUB_API)
    .overwrite((text) => normalizeBaseUrl(text) ?? text)
    .meta({
      title: "API address",
      description: "Leave it as it is, unless you use GitHub Enterprise Server: https://HOST/api/v3.",
      fromAccount: "apiUrl",
    }),
  ...FORGE_CHOICES,
  repositories: FORGE_CHOICES.repositories.meta({
    title: "Repositories",
    description:
      "owner/name, or owner for all repositories of an owner. If empty, kb reads all repositories that the account is a member of, or that the app is installed on.",
  }),
});
export type GithubConfig = z.infer<typeof GithubConfig>;

const secret = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[\x21-\x7e]+$/, "The token can't contain spaces.");
const digits = z.string().regex(/^\d{1,19}$/, "The ID must be a number.");

/** Credentials: a token, or an installed app. */
export const GithubCredentials = z
  .strictObject({
    token: secret.optional().meta({
      title: "Personal access token",
      format: "password",
      description: "Fine-grained or classic. Leave it empty for a GitHub App.",
    }),
    appId: digits
      .optional()
      .meta({ title: "App ID", description: "The ID of a GitHub App, from the app's settings page." }),
    privateKey: z
      .string()
      .min(1)
      .max(16_384)
      .regex(/^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/, "It must be a private key in PEM form.")
      .optional()
      .meta({
        title: "Private key",
        format: "password",
        description: "The GitHub App's private key: the whole .pem file.",
        contentMediaType: "text/plain",
      }),
    installation: digits.optional().meta({
      title: "Installation ID",
      description: "The number at the end of the address of the installation's settings page.",
    }),
  })
  .superRefine(({ token, ...app }, context) => {
    const count = Object.values(app).filter((value) => value !== undefined).length;
    if (token === undefined ? count !== 3 : count > 0)
      context.addIssue({ code: "custom", message: "Give a token, or appId, privateKey and installation." });
  });

/** Returns the base URL of pages and repositories, without a trailing slash. */
export function webUrlOf({ apiUrl }: Pick<GithubConfig, "apiUrl">): string {
  if (apiUrl === GITHUB_API) return "https://github.com";
  const { protocol, host } = new URL(apiUrl);
  // GitHub Enterprise Cloud with data residency.
  if (isGheCom(host)) return `${protocol}//${host.slice("api.".length)}`;
  return apiUrl.replace(/\/api\/v3$/, "");
}

export function graphqlUrlOf({ apiUrl }: Pick<GithubConfig, "apiUrl">): string {
  return apiUrl.endsWith("/api/v3") ? `${apiUrl.slice(0, -"/v3".length)}/graphql` : `${apiUrl}/graphql`;
}

/** Whether GitHub hosts the instance. `public` = public content needs no sign-in; `closed` = all content does. */
export function isHosted({ apiUrl }: Pick<GithubConfig, "apiUrl">): "public" | "closed" | undefined {
  if (apiUrl === GITHUB_API) return "public";
  return isGheCom(new URL(apiUrl).host) ? "closed" : undefined;
}

function isGheCom(host: string): boolean {
  return /^api\.[a-z0-9-]+\.ghe\.com$/.test(host);
}
