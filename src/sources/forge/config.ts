import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { FORGE_CONTENT } from "./contract.ts";
import { maxFileMb } from "#sources/file-scope/file-size.ts";

const Name = /^[A-Za-z0-9_.-]{1,100}$/;

/** `owner/name`, or `owner` for all its repositories. */
const RepositoryChoice = z
  .array(
    z.string().refine((text) => {
      const parts = text.split("/");
      return parts.length <= 2 && parts.every((part) => Name.test(part) && part !== "." && part !== "..");
    }, "Give owner/name, or owner for all repositories of an owner."),
  )
  .max(500)
  .default([])
  .meta({
    title: "Repositories",
    description:
      "owner/name, or owner for all repositories of an owner. If empty, kb reads all repositories that the account is a member of.",
  });

const Content = z
  .array(z.enum(FORGE_CONTENT))
  .min(1)
  .max(FORGE_CONTENT.length)
  .default([...FORGE_CONTENT])
  .meta({ title: "Content", description: "What to index of each repository." });

/** Config keys of every forge that select its content. */
export const FORGE_CHOICES = {
  repositories: RepositoryChoice,
  content: Content,
  maxFileMb: maxFileMb("kb doesn't read larger files; you can still find them by name."),
  ...FILE_CHOICES,
};
