import type { FailureWords } from "#sources/check.ts";
import { type AtlassianPlace, baseUrlOf, isCloud } from "./config.ts";

/** Returns messages for problems with the credentials or the address of an app, each with the next step. */
export function wordsOf(config: AtlassianPlace, app: string) {
  const { host } = new URL(baseUrlOf(config));
  const captcha = `If ${app} asks for a CAPTCHA, sign in on its page once.`;
  return {
    source_unauthorized: {
      hint: isCloud(config)
        ? `Give the email address of the account and an API token of id.atlassian.com. ${captcha}`
        : `Give a personal access token of the account's profile, without an email address. ${captcha}`,
      field: "credentials",
    },
    source_not_found: {
      message: `${host} has no ${app} at this address (HTTP 404).`,
      hint: `Give the address of ${app}'s home page.`,
      field: "url",
    },
    source_forbidden: {
      message: `${host} does not let this account use the API (HTTP 403).`,
      hint: `Give the account access to ${app}.`,
      field: "credentials",
    },
    otherwise: { field: "url" },
  } satisfies FailureWords;
}
