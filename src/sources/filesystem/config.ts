import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";

/** What an admin says about a folder. Unknown keys are errors. */
export const FilesystemConfig = z.strictObject({
  root: z
    .string()
    .min(1)
    .max(4096)
    .refine((path) => !path.includes("\0"), "A path holds no NUL character.")
    .meta({ title: "Folder", description: "Absolute real path of the folder, equal to or below an allowed root." }),
  gitignore: z.boolean().default(true).meta({
    title: "Honour .gitignore",
    description: "Leave out what .gitignore files name. .kbignore always counts.",
  }),
  generated: z.boolean().default(false).meta({
    title: "Folders of programs",
    description:
      "Take folders that programs make: node_modules, caches, virtual environments, and target, dist or build beside the project's file. A .kbignore takes back single ones.",
  }),
  hidden: z
    .boolean()
    .default(false)
    .meta({ title: "Hidden files", description: "Take files and folders whose names begin with a dot." }),
  maxFileMb: z.number().min(0.001).max(1024).default(50).meta({
    title: "Largest file (MiB)",
    description: "The text of larger files is not read; their names stay findable.",
  }),
  includeRestricted: z.boolean().default(false).meta({
    title: "Restricted files",
    description: "Take files that other users of the machine may not read, though the connector is not private.",
  }),
  ...FILE_CHOICES,
  watch: z.boolean().default(true).meta({
    title: "Watch for changes",
    description: "Sync soon after something changes, not only by the schedule.",
  }),
});
export type FilesystemConfig = z.infer<typeof FilesystemConfig>;

/** Where folders may be, given by the composition root. */
export interface Places {
  /** The folders that an admin allows; none = the provider is unavailable. */
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder: never entered. */
  dataFolder: string;
}
