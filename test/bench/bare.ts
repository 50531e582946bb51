/** The peer of calls over HTTP. */
import { spawn, type ChildProcess } from "node:child_process";

/** The least that a program on Node does for such a call: it reads a body and answers with as much JSON. */
const BARE = `
const answer = JSON.stringify({ results: Array.from({ length: 10 }, (_, n) => ({ n, text: "x".repeat(580) })) });
const server = require("node:http").createServer((incoming, outgoing) => {
  let text = "";
  incoming.on("data", (part) => (text += part));
  incoming.on("end", () => {
    JSON.parse(text);
    outgoing.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
`;

/** Starts it; its caller ends it. */
export async function startBare(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ["-e", BARE], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const port = await new Promise((resolve) => child.once("message", resolve));
  return { url: `http://127.0.0.1:${String(port)}/`, child };
}
