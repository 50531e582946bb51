import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";

/** An admin's config for a folder. Unknown keys are errors. */
export const FilesystemConfig = z.strictObject({
  root: z
    .string()
    .min(1)
    .max(4096)
    .refine((path) => !path.includes("\0"), "A path can't contain a NUL character.")
    .meta({
      title: "Folder",
      description: "Absolute real path of the folder, equal to or below an allowed root.",
      localPath: "always",
    }),
  gitignore: z.boolean().default(true).meta({
    title: "Honour .gitignore",
    description: "Leave out files that .gitignore files list. .kbignore files always apply.",
  }),
  generated: z.boolean().default(false).meta({
    title: "Generated folders",
    description:
      "Include generated folders: node_modules, caches, virtual environments, and target, dist or build next to the project's file. Use a .kbignore file to leave out some of these folders.",
  }),
  hidden: z
    .boolean()
    .default(false)
    .meta({ title: "Hidden files", description: "Include files and folders whose names begin with a dot." }),
  maxFileMb: MAX_FILE_MB,
  includeRestricted: z.boolean().default(false).meta({
    title: "Restricted files",
    description: "Include files that other users of the machine can't read, although the connector is not private.",
  }),
  ...FILE_CHOICES,
  watch: z.boolean().default(true).meta({
    title: "Watch for changes",
    description: "Sync soon after a change, not only on schedule.",
  }),
});
export type FilesystemConfig = z.infer<typeof FilesystemConfig>;

/** The allowed folders, provided by the composition root. */
export interface Places {
  /** Returns the folders that an admin allows. With none, the provider is unavailable. */
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder, which is never entered. */
  dataFolder: string;
}
