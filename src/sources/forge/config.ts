import { z } from "zod";

const Name = /^[A-Za-z0-9_.-]{1,100}$/;

/** `owner/name`, or `owner` for all that one has. */
export const RepositoryChoice = z
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
    description: "owner/name, or owner for all of an owner. Without any: all that the account is a member of.",
  });

export const ContentChoice = z
  .array(z.enum(["issues", "pulls"]))
  .min(1)
  .max(2)
  .default(["issues", "pulls"])
  .meta({ title: "Content", description: "What to index: issues, pulls." });
