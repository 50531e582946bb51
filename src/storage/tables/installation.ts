import { table, words } from "./table.ts";

const { text, integer, instant, nullable, hidden } = words;

/** One row: set-up of this installation. */
export const INSTALLATION = table("installation", ["id"], {
  id: integer,
  /** Set once, when the first admin was made; the gate of onboarding. Source: S35. */
  completedAt: nullable(instant),
  setupCodeHash: nullable(text),
  setupCodeExpiresAt: nullable(instant),
  /** Wrong tries since the code was made. */
  setupCodeTries: integer,
  /** The last known mark file beside the database: `storage/folder-mark.ts`. */
  markStep: hidden(nullable(integer)),
  markFile: hidden(nullable(text)),
  /** Check value that identifies the data folder's key: `storage/key-check.ts`. */
  keyCheck: hidden(nullable(text)),
});

/** Folders that the filesystem source may read, in addition to the settings' list. */
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
