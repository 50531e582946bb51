import { z } from "zod";

/** Config keys of every source that reads files. */
export const FILE_CHOICES = {
  archives: z.boolean().default(false).meta({
    title: "Archives",
    description: "Index the files in ZIP, tar and gzip archives as separate items.",
  }),
  secretFiles: z.boolean().default(false).meta({
    title: "Secret files",
    description: "Include files whose names suggest keys or passwords.",
  }),
};
