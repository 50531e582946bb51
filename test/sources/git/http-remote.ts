import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { git, SEARCH_PATH } from "./fixture.ts";

export interface HttpRemoteOptions {
  /** What `Authorization` must be; anything else is 401. */
  authorization?: string;
  /** Answers before git does; true = answered. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Serves the repositories below a folder over http, as a forge would: git's own server behind a socket of this machine. */
export async function serveHttp(folder: string, options: HttpRemoteOptions = {}) {
  const seen: { path: string; authorization: string | undefined }[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    seen.push({ path: request.url ?? "", authorization });
    if (options.before?.(request, response)) return;
    if (options.authorization !== undefined && authorization !== options.authorization) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    runBackend(folder, request, response);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return { port, seen, connections: () => connections, url: (path: string) => `http://code.test:${port}/${path}` };
}

/** A bare copy that serves partial and shallow clones. */
export function makeBare(from: string, to: string): void {
  git(from, "clone", "--quiet", "--bare", ".", to);
  git(to, "config", "uploadpack.allowFilter", "true");
}

/** Answers a request of the git program with what is below a folder. */
export function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: SEARCH_PATH,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "test",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  let head = Buffer.alloc(0);
  let isBody = false;
  child.stdout.on("data", (chunk: Buffer) => {
    if (isBody) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    isBody = true;
    const headers = head
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": "));
    const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
    for (const [name = "", value = ""] of headers) if (name !== "Status") response.setHeader(name, value);
    response.writeHead(status);
    response.write(head.subarray(end + 4));
  });
  child.stdout.on("end", () => response.end());
}
