import { z } from "zod";

/** What every source of files can be told of them. */
export const FILE_CHOICES = {
  archives: z.boolean().default(false).meta({
    title: "Archives",
    description: "Take the files in ZIP, tar and gzip archives as items of their own.",
  }),
  secretFiles: z.boolean().default(false).meta({
    title: "Secret files",
    description: "Take files whose names say that they hold keys or passwords.",
  }),
};
