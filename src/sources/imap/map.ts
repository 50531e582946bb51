import { timeOf } from "#sources/times.ts";
import { none } from "#sources/contents.ts";
import { createHash } from "node:crypto";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { configKey, type ImapConfig } from "./config.ts";
import { containersOf, idOf, type MailFolder, nameOf } from "./folders.ts";
import { type Fetched, textOf } from "./session.ts";
import { headerText } from "./text.ts";
import type { Token } from "./wire.ts";

/** The data that is requested to list a message. Its text is read separately. */
export const LISTED = "(UID RFC822.SIZE INTERNALDATE ENVELOPE)";

export interface MailFacts {
  config: ImapConfig;
  version: string;
  access: NonNullable<SourceItem["access"]>;
}

/**
 * The version of the header parser that produced the title. Increase it when an improved parser should read all titles
 * again.
 */
const READER = 2;

/**
 * Returns the facts that all items share. A mailbox belongs to its owner: items name the owner, so that a person who
 * takes the connector over can't read messages that were read for another person. A message never changes, so its
 * version includes the owner: in the next owner's mailbox, the same numbers can be another message.
 */
export function factsOf({ config, connector }: Pick<SourceContext<ImapConfig>, "config" | "connector">): MailFacts {
  const { owner } = connector;
  const forWhom = createHash("sha256")
    .update(owner ?? "")
    .digest("base64url")
    .slice(0, 8);
  return {
    config,
    version: `${configKey(config)}:${forWhom}:${READER}`,
    access: owner === undefined ? { known: false } : { known: true, all: [[owner]] },
  };
}

export function toItem(
  { uid, values }: Fetched,
  folder: MailFolder,
  uidValidity: number,
  facts: MailFacts,
): SourceItem {
  const envelope = listOf(values.get("ENVELOPE"));
  const subject = headerText(bytesOf(envelope[1])).slice(0, 500);
  const messageId = textOf(envelope[9] ?? null).trim();
  const size = sizeOf(values.get("RFC822.SIZE"));
  const at = internalDate(textOf(values.get("INTERNALDATE") ?? null));
  return {
    externalId: idOf(folder.name, uidValidity, uid),
    kind: "message",
    title: subject === "" ? "No subject" : subject,
    mimeType: "message/rfc822",
    place: nameOf(folder.name, folder.delimiter),
    path: folder.chain.map((name) => nameOf(name, folder.delimiter)),
    version: facts.version,
    ...defined({ size, createdAt: at, updatedAt: at }),
    // A message that moved to another folder gets another number there, and keeps its message id.
    ...(messageId !== "" && {
      identityHint: createHash("sha256")
        .update(`${messageId} ${size ?? ""}`)
        .digest("base64url"),
    }),
    containers: containersOf(folder),
    content: size !== undefined && size > maxFileBytes(facts.config) ? none("too_large") : { type: "fetch" },
    access: facts.access,
  };
}

function listOf(token: Token | undefined): Token[] {
  return Array.isArray(token) ? token : [];
}

function bytesOf(token: Token | undefined): Buffer | null {
  return token instanceof Buffer ? token : null;
}

function sizeOf(token: Token | undefined): number | undefined {
  return typeof token === "string" && /^\d{1,12}$/.test(token) ? Number(token) : undefined;
}

function internalDate(text: string): number | undefined {
  return timeOf(text.trim().replace(/^(\d{1,2})-([A-Za-z]{3})-(\d{4}) /, "$1 $2 $3 "));
}
