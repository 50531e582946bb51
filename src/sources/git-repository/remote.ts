import { canParseUrl } from "#api/parse-url.ts";
import { posix } from "node:path";

/** The parsed address of a repository. */
export type Remote =
  | { type: "http"; scheme: "https" | "http"; host: string; port: number; path: string; url: string }
  | { type: "ssh"; user: string; host: string; port: number; path: string; url: string }
  | { type: "path"; path: string };

/**
 * Parses the address of a repository: `https://…`, `ssh://…`, `git@host:path`, `file:///…` or an absolute path. Every
 * other address that git would accept (other protocols, helpers such as `ext::`, options) is a fault. Source: S38.
 */
export function parseRemote(text: string): Remote | { fault: string } {
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (/[\0-\x1f\x7f]/.test(text)) return { fault: "A URL can't contain control characters." };
  if (text.startsWith("-")) return { fault: "A URL can't begin with a dash." };
  if (/^[^/:@]+::/.test(text)) return { fault: "Helpers such as ext:: are not supported. Use https or ssh." };
  if (text.startsWith("/")) return toPath(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseUrl(text);
  return parseScpLike(text);
}

/** Returns the last segments of the address, as people name the repository: `owner/repo`, or the folder's name. */
export function placeOf(remote: Remote): string {
  const path = remote.path.replace(/\/+$/, "").replace(/\/?\.git$/, "");
  const segments = path.split("/").filter((segment) => segment !== "");
  const taken = remote.type === "path" ? segments.slice(-1) : segments.slice(-2);
  return taken.join("/") || "repository";
}

/** Returns the origin that the credentials belong to. */
export function originOfRemote(remote: Remote): string {
  if (remote.type === "path") return "file:";
  const scheme = remote.type === "ssh" ? `ssh://${remote.user}@` : `${remote.scheme}://`;
  return `${scheme}${remote.host}:${remote.port}`;
}

const HOST = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;
const USER = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;
const PORTS = { https: 443, http: 80, ssh: 22 } as const;

function parseUrl(text: string): Remote | { fault: string } {
  if (!canParseUrl(text)) return { fault: "This is not a URL." };
  const url = new URL(text);
  switch (url.protocol) {
    case "https:":
    case "http:":
      return toHttp(url, url.protocol === "https:" ? "https" : "http");
    case "ssh:":
    case "git+ssh:":
      return toSsh(url);
    case "file:":
      if (url.hostname !== "" || url.search !== "" || url.hash !== "")
        return { fault: "A file: URL can contain a path only." };
      return toPath(decode(url.pathname));
    default:
      return { fault: `${url.protocol}// is not supported. Use https or ssh.` };
  }
}

function toHttp(url: URL, scheme: "https" | "http"): Remote | { fault: string } {
  if (url.username !== "" || url.password !== "") {
    return { fault: "The URL contains a user name or a password. Remove them and give them as credentials." };
  }
  if (url.search !== "" || url.hash !== "") return { fault: "A clone URL can't contain ? or #." };
  if (url.pathname === "/") return { fault: "The URL names no repository." };
  const host = url.hostname.replace(/\.$/, "");
  const port = url.port === "" ? PORTS[scheme] : Number(url.port);
  if (!HOST.test(host)) return { fault: "This is not a host name." };
  const path = url.pathname.replace(/\/+$/, "");
  return {
    type: "http",
    scheme,
    host,
    port,
    path,
    url: `${scheme}://${host}${url.port === "" ? "" : `:${port}`}${path}`,
  };
}

function toSsh(url: URL): Remote | { fault: string } {
  if (url.password !== "") return { fault: "The URL contains a password. Remove it and give it as a credential." };
  // The URL parser leaves the hosts of unknown schemes unchanged.
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  const user = decode(url.username) || "git";
  const port = url.port === "" ? PORTS.ssh : Number(url.port);
  const path = decode(url.pathname);
  const fault = sshFault(user, host, path.replace(/^\/+/, ""));
  return fault ?? { type: "ssh", user, host, port, path, url: `ssh://${user}@${host}:${port}${path}` };
}

/** Parses `user@host:path`. The path is relative to the user's home on the server. */
function parseScpLike(text: string): Remote | { fault: string } {
  const [, user = "", host = "", path = ""] = /^(?:([^@/:]+)@)?(\[[^\]]+\]|[^@/:[\]]+):(.+)$/.exec(text) ?? [];
  if (host === "" || /^(?:https?|ssh|git|file|ftps?)$/i.test(host))
    return { fault: "This is neither a clone URL nor an absolute path." };
  const [name, where] = [user === "" ? "git" : user, host.toLowerCase().replace(/\.$/, "")];
  const fault = sshFault(name, where, path);
  return fault ?? { type: "ssh", user: name, host: where, port: PORTS.ssh, path, url: `${name}@${where}:${path}` };
}

function sshFault(user: string, host: string, path: string): { fault: string } | undefined {
  if (!HOST.test(host)) return { fault: "This is not a host name." };
  if (!USER.test(user)) return { fault: "This is not an ssh user name." };
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (path === "" || /^[-~]|[\0-\x1f\x7f]/.test(path)) return { fault: "The URL names no repository." };
  return undefined;
}

function toPath(text: string): Remote | { fault: string } {
  if (text.includes("\0") || !text.startsWith("/")) return { fault: "A path must be absolute." };
  const path = posix.normalize(text).replace(/(?<=.)\/$/, "");
  return path === "/" ? { fault: "The root folder is not a repository." } : { type: "path", path };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A `%` without two digits is an ordinary character, and the text is checked unchanged.
    return text;
  }
}
