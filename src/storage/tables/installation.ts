import { table, words } from "./table.ts";

const { text, integer, instant, nullable, hidden } = words;

/** The set-up of this installation, in one row. */
export const INSTALLATION = table("installation", ["id"], {
  id: integer,
  /** Set once, when the first admin was created. While it is null, onboarding is open. Source: S35. */
  completedAt: nullable(instant),
  setupCodeHash: nullable(text),
  setupCodeExpiresAt: nullable(instant),
  /** The number of wrong tries since the code was made. */
  setupCodeTries: integer,
  /** The last known mark file next to the database; see `storage/folder-mark.ts`. */
  markStep: hidden(nullable(integer)),
  markFile: hidden(nullable(text)),
  /** Check value that identifies the data folder's key; see `storage/key-check.ts`. */
  keyCheck: hidden(nullable(text)),
});

/** Folders that the filesystem source may read, in addition to the list in the settings. */
export const LOCAL_ROOTS = table(
  "local_roots",
  ["rootId"],
  {
    rootId: text,
    path: text,
    createdBy: text,
    createdAt: instant,
  },
  { unique: [["path"]] },
);
