import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";

/** Config of Google Drive. Unknown keys are errors. */
export const GoogleDriveConfig = z.strictObject({
  myDrive: z.boolean().default(true).meta({
    title: "My Drive",
    description: "Read the account's My Drive, and the files that others share with the account.",
  }),
  drives: z
    .array(z.string().regex(/^[\w-]{5,100}$/, "Give the ID of a shared drive: the last part of its address."))
    .max(1_000)
    .default([])
    .meta({
      title: "Shared drives",
      description: "IDs of shared drives. If empty, kb reads every shared drive that the account is a member of.",
    }),
  maxFileMb: MAX_FILE_MB,
  ...FILE_CHOICES,
});
export type GoogleDriveConfig = z.infer<typeof GoogleDriveConfig>;

export const GoogleDriveCredentials = z.strictObject({
  key: z.string().min(1).max(20_000).refine(isKeyFile, "Give the whole JSON key file of a service account.").meta({
    title: "Key",
    format: "password",
    description: "The JSON key file of a service account, as text.",
    contentMediaType: "application/json",
  }),
  subject: z.email("Give an email address.").max(320).exactOptional().meta({
    title: "Act as",
    description:
      "Email address of the user whose Drive to read, with domain-wide delegation. If empty, kb reads as the service account itself.",
  }),
});

function isKeyFile(text: string): boolean {
  try {
    const { type } = z.object({ type: z.string() }).parse(JSON.parse(text));
    return type === "service_account";
  } catch {
    // The key isn't JSON, or is JSON of something else. The message states what is needed, and repeats nothing of the
    // input.
    return false;
  }
}

/** Google's addresses, which differ only in tests. */
export interface GooglePlaces {
  apiUrl: string;
  directoryUrl: string;
  tokenUrl: string;
}

export const GOOGLE: GooglePlaces = {
  apiUrl: "https://www.googleapis.com",
  directoryUrl: "https://admin.googleapis.com",
  tokenUrl: "https://oauth2.googleapis.com/token",
};

export const DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.readonly";

/**
 * Scopes for the directory. They are requested separately from those for Drive, because Drive can also be read without
 * them.
 */
export const DIRECTORY_SCOPES = [
  "https://www.googleapis.com/auth/admin.directory.user.readonly",
  "https://www.googleapis.com/auth/admin.directory.group.member.readonly",
  "https://www.googleapis.com/auth/admin.directory.domain.readonly",
];
