import type { ChildRules } from "#sources/contract.ts";
import { isSecretFile } from "./secret-files.ts";

/**
 * Returns which files inside files a connector includes. The same names count as secret in an archive as in a folder.
 * Source: S37.
 */
export function makeChildRules(config: { archives: boolean; secretFiles: boolean }): ChildRules {
  const { archives, secretFiles } = config;
  return {
    archives,
    refuse(path) {
      const isSecret = !secretFiles && isSecretFile(path.slice(path.lastIndexOf("/") + 1));
      return isSecret ? SECRET : undefined;
    },
  };
}

const SECRET = { reason: "excluded_by_policy", message: "The name suggests keys or passwords." } as const;
