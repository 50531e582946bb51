// A host on @modelcontextprotocol/sdk of the folder in its first argument: signs in at the URL in its second, prints the
// address to open as `AUTHORIZE …`, then answers each line `tools`, `search` or `later N` with a line of JSON.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, url] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const say = (line) => process.stdout.write(`${line}\n`);
let receive;
const code = new Promise((resolve) => (receive = resolve));
const callback = createServer((request, response) => {
  receive(new URL(request.url, "http://127.0.0.1").searchParams.get("code"));
  response.end("ok");
});
await new Promise((resolve) => callback.listen(0, "127.0.0.1", resolve));
const redirectUrl = `http://127.0.0.1:${callback.address().port}/callback`;

const kept = {};
const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: "SDK host",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (address) => say(`AUTHORIZE ${address.href}`),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
};

const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
const first = open();
await new Client({ name: "host", version: "1" }).connect(first).catch(() => undefined);
await first.finishAuth(await code);
callback.close();
const client = new Client({ name: "host", version: "1" });
await client.connect(open());
say("READY");

const ANSWERS = {
  tools: async () => (await client.listTools()).tools.map(({ name }) => name),
  search: async () => JSON.stringify(await client.callTool({ name: "kb_search", arguments: { query: "ledger" } })),
  // It doesn't look at its clock: it waits for the server's refusal.
  later: async () => "",
};
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await ANSWERS[line.split(" ")[0]]().then(
    (value) => ({ value }),
    (error) => ({ error: String(error) }),
  );
  say(JSON.stringify(answer));
}
process.exit();
