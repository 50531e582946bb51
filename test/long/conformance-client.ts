/**
 * A host on the bridge, for the conformance suite that appends the address of its server: opens it, lists the tools and
 * calls each one. What the server answers is for the suite to judge.
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CLI } from "../bridge/built.ts";

const isModern = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28";
const client = new Client(
  { name: "kb-conformance", version: "1.0.0" },
  isModern ? { versionNegotiation: { mode: "auto" } } : {},
);
const env = { PATH: process.env["PATH"] ?? "", KB_URL: process.argv.at(-1) ?? "", KB_TOKEN: "kb_pat_conformance" };
await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, "mcp"], env }));
try {
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) {
    // One scenario wants back, word for word, the schema that it published for its first tool.
    const valueOf = (property: string, n: number) => (property === "schema" ? tools[0]?.inputSchema : n + 2);
    const properties = Object.keys(inputSchema.properties ?? {});
    const args = Object.fromEntries(properties.map((property, n) => [property, valueOf(property, n)]));
    await client.callTool({ name, arguments: args }).catch(complain);
  }
} catch (error) {
  complain(error);
}
await client.close();

function complain(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
}
