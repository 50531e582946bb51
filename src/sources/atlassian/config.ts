import { baseUrlKey } from "#sources/base-url.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { normalizeBaseUrl } from "#core/base-url.ts";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";
import type { AuthWay, LimitSpec } from "#sources/http-contract.ts";

/** Config keys of every Atlassian source: the app's address, and how files are read. */
export const ATLASSIAN_PLACE = {
  url: baseUrlKey("Give an address such as https://acme.atlassian.net.").meta({
    title: "Address",
    description: "https://acme.atlassian.net, or the base URL of your own server.",
  }),
  deployment: z.enum(["auto", "cloud", "data_center"]).default("auto").meta({
    title: "Deployment",
    description:
      "Cloud or Data Center. With auto, addresses below atlassian.net are Cloud, and all others are Data Center.",
  }),
};

export const ATLASSIAN_FILES = { maxFileMb: MAX_FILE_MB };

export interface AtlassianPlace {
  url: string;
  deployment: "auto" | "cloud" | "data_center";
}

const visible = /^[\x21-\x7e]+$/;

export const AtlassianCredentials = z.strictObject({
  email: z.string().min(1).max(320).regex(visible, "An email address has no spaces.").exactOptional().meta({
    title: "Email",
    description: "Cloud only: the email address of the account that the API token belongs to.",
  }),
  token: z.string().min(1).max(4_096).regex(visible, "A token has no spaces.").meta({
    title: "Token",
    format: "password",
    description: "Cloud: an API token. Data Center: a personal access token.",
  }),
});

/**
 * The ways to sign in. With an email address, the token is an API token of Cloud. Without one, it is a personal access
 * token of Data Center.
 */
export const ATLASSIAN_AUTH: readonly AuthWay[] = [
  { type: "credentials", scheme: "basic", username: "email", password: "token" },
  { type: "credentials", scheme: "bearer", token: "token" },
];

/** Atlassian publishes no rate limit. The limit is low because a self-hosted server also serves its users. */
export const ATLASSIAN_LIMITS: LimitSpec = { perMinute: 600, burst: 60 };

export function isCloud({ url, deployment }: AtlassianPlace): boolean {
  if (deployment !== "auto") return deployment === "cloud";
  return isCloudAddress(url);
}

export function isCloudAddress(url: string): boolean {
  return canParseUrl(url) && /\.(?:atlassian\.net|jira-dev\.com)$/.test(new URL(url).hostname);
}

/**
 * Returns the address in its normalized form. On Cloud, that is the site's origin, even if the address of a page was
 * entered.
 */
export function baseUrlOf(place: AtlassianPlace): string {
  const base = normalizeBaseUrl(place.url) ?? place.url;
  return isCloud(place) && canParseUrl(base) ? new URL(base).origin : base;
}
