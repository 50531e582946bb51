import { z } from "zod";
import { normalizeBaseUrl } from "#core/base-url.ts";
import { CHAT_CHOICES } from "#sources/chat/config.ts";

/** Config of a Matrix account. Unknown keys are errors. */
export const MatrixConfig = z.strictObject({
  url: z
    .string()
    .max(2_048)
    .refine((text) => normalizeBaseUrl(text) !== undefined, "Give an https:// or http:// address without ? or #.")
    .meta({
      title: "Homeserver",
      description: "Address of the homeserver, such as https://matrix.example.com.",
    }),
  ...CHAT_CHOICES,
});
export type MatrixConfig = z.infer<typeof MatrixConfig>;

export const MatrixCredentials = z.strictObject({
  token: z.string().min(1).max(4_096).meta({
    title: "Access token",
    format: "password",
    description: "The access token of the account whose rooms kb reads.",
  }),
});

/** The server's address in one form. */
export function baseUrlOf({ url }: Pick<MatrixConfig, "url">): string {
  return normalizeBaseUrl(url) ?? url;
}
