import { baseUrlKey } from "#sources/base-url.ts";
import { z } from "zod";
import { CHAT_CHOICES } from "#sources/chat/config.ts";

/** Config of a Matrix account. Unknown keys are errors. */
export const MatrixConfig = z.strictObject({
  url: baseUrlKey("Give an https:// or http:// address without ? or #.").meta({
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
