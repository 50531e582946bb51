import { digestOf } from "#sources/digest.ts";
import { z } from "zod";
import { maxFileMb } from "#sources/file-scope/file-size.ts";

/** Config of a mailbox. Unknown keys are errors. */
export const ImapConfig = z.strictObject({
  host: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, "Give a host name such as imap.example.com.")
    .meta({ title: "Server", description: "Host name of the IMAP server, such as imap.gmail.com." }),
  port: z.number().int().min(1).max(65_535).default(993).meta({
    title: "Port",
    description: "Port for IMAP with TLS.",
  }),
  tls: z.boolean().default(true).meta({
    title: "TLS",
    description: "Turn this off only for a server that the operator has allowed. kb doesn't support STARTTLS.",
  }),
  since: z.iso.date().optional().meta({
    title: "Since",
    description: "Read only messages that the server received on this day or later, such as 2024-01-31.",
  }),
  junkAndTrash: z.boolean().default(false).meta({
    title: "Junk and trash",
    description: "Also read the folders for junk, deleted messages and drafts.",
  }),
  maxFileMb: maxFileMb("kb does not read larger messages; you can still find them by subject."),
});
export type ImapConfig = z.infer<typeof ImapConfig>;

export const ImapCredentials = z.strictObject({
  user: z.string().min(1).max(500).meta({ title: "User name", description: "Usually your email address." }),
  password: z.string().min(1).max(2_000).meta({
    title: "Password",
    format: "password",
    description: "If your provider has app passwords, as Gmail, Fastmail and iCloud do, create one for kb.",
  }),
});

/** The origin that credentials are bound to. */
export function originOf({ host, port, tls }: ImapConfig): string {
  return `${tls ? "imaps" : "imap"}://${host.toLowerCase()}:${port}`;
}

/** A part of every version, which changes when the config produces different items from the same messages. */
export function configKey(config: ImapConfig): string {
  return digestOf([originOf(config), config.maxFileMb], 8);
}
