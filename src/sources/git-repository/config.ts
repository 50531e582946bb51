import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { FORGES } from "./forges.ts";
import { parseRemote } from "./remote.ts";
import { maxFileMb } from "#sources/file-scope/file-size.ts";

/** Config of a repository. Unknown keys are errors; it never contains credentials. */
export const GitConfig = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2_000)
    .superRefine((url, context) => {
      const remote = parseRemote(url);
      if ("fault" in remote) context.addIssue({ code: "custom", message: remote.fault });
    })
    .meta({
      title: "Repository",
      description: "Clone URL (https or ssh), or the absolute path of a repository below an allowed root.",
      localPath: "dotted",
    }),
  ref: z
    .string()
    .max(250)
    .refine(isRefName, "That can't be the name of a branch or tag.")
    .optional()
    .meta({ title: "Branch or tag", description: "If empty, kb reads the repository's default branch." }),
  commits: z
    .boolean()
    .default(false)
    .meta({ title: "Commit messages", description: "Also index commit messages as items." }),
  history: z.number().int().min(0).max(1_000_000).default(10_000).meta({
    title: "History",
    description:
      "How many commits kb reads for dates, authors and messages. With 0, it reads none, and its copy is smallest.",
  }),
  maxFileMb: maxFileMb("kb doesn't read larger files; you can still find them by name."),
  ...FILE_CHOICES,
  forge: z.enum(FORGES).optional().meta({
    title: "Web pages",
    description: "How this host builds the URLs of files. If empty, kb recognizes known hosts.",
  }),
  hostKeys: z
    .string()
    .max(10_000)
    .regex(/^[\x20-\x7e\n]*$/, "Lines of a known_hosts file, as ssh-keyscan prints them.")
    .optional()
    .meta({
      title: "Host keys",
      description:
        "For ssh: the output of ssh-keyscan for the host. Compare it with the keys that the host's owner publishes.",
      contentMediaType: "text/plain",
    }),
});
export type GitConfig = z.infer<typeof GitConfig>;

const secret = z
  .string()
  .min(1)
  .max(16_384)
  // The values are passed to the askpass program line by line.
  .regex(/^[^\0\r\n]*$/, "It must be one line.");

/** Credentials: a token or a password for https, or a private key for ssh. */
export const GitCredentials = z
  .strictObject({
    token: secret.optional().meta({
      title: "Token",
      format: "password",
      description: "An access token of the host; read rights are enough.",
    }),
    username: secret.optional().meta({ title: "User name", description: "Required with a password." }),
    password: secret
      .optional()
      .meta({ title: "Password", format: "password", description: "The password of that user." }),
    privateKey: z
      .string()
      .min(1)
      .max(16_384)
      .regex(/^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/, "It must be a private key in PEM or OpenSSH form.")
      .optional()
      .meta({
        title: "Private key",
        format: "password",
        description: "For ssh: the whole file of the private key, as ssh-keygen created it.",
        contentMediaType: "text/plain",
      }),
    passphrase: secret.optional().meta({
      title: "Passphrase",
      format: "password",
      description: "The passphrase of the private key, if it has one.",
    }),
  })
  .superRefine(({ token, username, password, privateKey, passphrase }, context) => {
    const secrets = [token, password, privateKey].filter((value) => value !== undefined).length;
    if (secrets !== 1) {
      context.addIssue({
        code: "custom",
        message: "Give one of these: a token, a username with a password, or a privateKey.",
      });
    } else if (password !== undefined && username === undefined) {
      context.addIssue({ code: "custom", path: ["username"], message: "A password needs its user name." });
    } else if (passphrase !== undefined && privateKey === undefined) {
      context.addIssue({ code: "custom", path: ["passphrase"], message: "A passphrase needs a private key." });
    }
  });

/**
 * Whether a text is a valid ref name, by the rules of git-check-ref-format for the part after `refs/heads/`, and
 * slightly stricter.
 */
export function isRefName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (name === "" || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/.test(name)) return false;
  return name !== "@" && name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}
