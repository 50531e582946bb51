import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { findPythonWith, type Python } from "../python.ts";

const PACKAGES = ["wsgidav==4.4.0", "cheroot==11.1.2"];

/** A Python that has WsgiDAV. */
export function findPython(): Python | undefined {
  return findPythonWith({
    probe: "import wsgidav, cheroot",
    packages: PACKAGES,
    cache: "kb-wsgidav-4.4.0",
    what: "WebDAV",
  });
}

/** WsgiDAV on a folder; says its port. Anonymous, and with a user `anna` below `/locked`. */
const SCRIPT = `
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
root, digest = sys.argv[1], sys.argv[2] == "digest"
users = {"anna": {"password": "secret-of-anna"}}
app = WsgiDAVApp({
    "provider_mapping": {"/": root, "/locked": root},
    "simple_dc": {"user_mapping": {"*": True, "/locked": users}},
    "http_authenticator": {"accept_basic": not digest, "accept_digest": digest, "default_to_digest": digest},
    "dir_browser": {"enable": False},
    "verbose": 0,
})
server = wsgi.Server(("127.0.0.1", 0), app, numthreads=4)
server.prepare()
print(server.bind_addr[1], flush=True)
server.serve()
`;

export interface DavServer {
  port: number;
  stop(): void;
}

/** A real server over a folder. */
export async function startServer(python: Python, root: string, { digest = false } = {}): Promise<DavServer> {
  const child = spawn(python.command, ["-c", SCRIPT, root, digest ? "digest" : "basic"], {
    env: python.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(Number(line)));
    child.once("exit", () => reject(new Error(`WsgiDAV did not start: ${errors.slice(-2_000)}`)));
  });
  return { port, stop: () => void child.kill("SIGKILL") };
}
