import { inUrl } from "#sources/file-scope/paths.ts";
import type { Remote } from "./remote.ts";

/** Programs that show repositories in a browser, by the form of their URLs. */
export const FORGES = ["github", "gitlab", "bitbucket", "gitea", "sourcehut", "none"] as const;
export type Forge = (typeof FORGES)[number];

/** The web pages of one repository at one branch or tag. */
export interface WebPages {
  forge: Forge;
  /** The base URL, without a trailing slash. */
  base: string;
  file(path: string): string;
  /** Returns the line anchor, as `lineAnchorOf` does. */
  lineAnchor(path: string): string | undefined;
  commit(sha: string): string;
}

/**
 * Returns the web pages of a repository: for known hosts, for host names that reveal the program
 * (`gitlab.corp.example`), or as configured. Undefined if they are unknown.
 */
export function webPagesOf(remote: Remote, ref: string, isTag: boolean, configured?: Forge): WebPages | undefined {
  if (remote.type === "path") return undefined;
  const forge = configured ?? forgeOf(remote.host);
  if (forge === undefined || forge === "none") return undefined;
  const port = remote.type === "http" && remote.port !== 443 && remote.port !== 80 ? `:${remote.port}` : "";
  const scheme = remote.type === "http" ? remote.scheme : "https";
  const path = remote.path.replace(/^\/+/, "").replace(/\.git$/, "");
  const base = `${scheme}://${remote.host}${port}/${inUrl(path)}`;
  const at = inUrl(ref);
  const file = FILE_PATHS[forge](at, isTag);
  return {
    forge,
    base,
    file: (name) => `${base}/${file}/${inUrl(name)}`,
    lineAnchor: (name) => lineAnchorOf(forge, name),
    commit: (sha) => `${base}/${forge === "gitlab" ? "-/" : ""}${forge === "bitbucket" ? "commits" : "commit"}/${sha}`,
  };
}

/**
 * Returns a template that, appended to a file's URL, leads to a line. `{line}` is replaced by the line number, counted
 * from 1.
 */
export function lineAnchorOf(forge: Forge, path: string): string | undefined {
  switch (forge) {
    case "github":
    case "gitea": {
      // Rendered Markdown has no line numbers, so the link requests the source view.
      const isPage = /\.(?:md|markdown|mdown|rst|adoc|org)$/i.test(path);
      const source = forge === "github" ? "?plain=1" : "?display=source";
      return `${isPage ? source : ""}#L{line}`;
    }
    case "gitlab":
      return /\.(?:md|markdown|rst|adoc|org)$/i.test(path) ? "?plain=1#L{line}" : "#L{line}";
    case "sourcehut":
      return "#L{line}";
    case "bitbucket":
      return "#lines-{line}";
    case "none":
      return undefined;
  }
}

const KNOWN: Readonly<Record<string, Forge>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "salsa.debian.org": "gitlab",
  "gitlab.gnome.org": "gitlab",
  "gitlab.freedesktop.org": "gitlab",
  "invent.kde.org": "gitlab",
  "bitbucket.org": "bitbucket",
  "codeberg.org": "gitea",
  "gitea.com": "gitea",
  "git.sr.ht": "sourcehut",
};

function forgeOf(host: string): Forge | undefined {
  if (KNOWN[host] !== undefined) return KNOWN[host];
  const [, name] = /^(github|gitlab|bitbucket|gitea|forgejo)\./.exec(host) ?? [];
  if (name === "forgejo") return "gitea";
  return FORGES.find((forge) => forge === name);
}

const FILE_PATHS: Record<Exclude<Forge, "none">, (at: string, isTag: boolean) => string> = {
  github: (at) => `blob/${at}`,
  gitlab: (at) => `-/blob/${at}`,
  bitbucket: (at) => `src/${at}`,
  gitea: (at, isTag) => `src/${isTag ? "tag" : "branch"}/${at}`,
  sourcehut: (at) => `tree/${at}/item`,
};
