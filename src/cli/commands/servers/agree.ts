import { confirmed } from "#cli/host/deps.ts";
import { route } from "#cli/line/command.ts";
import { YES } from "#cli/line/options.ts";
import type { Output } from "#cli/terminal/output.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { CONNECTION, type ConnectionRecord } from "./find.ts";

/** `kb servers agree CONNECTION`: shows the calls that kb would make with the connection, and agrees to exactly those. */
export const agreeToTools = remoteCommand(
  {
    summary: "Look at the tools that kb calls with your connection, and agree to them.",
    details:
      "When an admin maps a server's tools differently, or maps one that doesn't say that it only reads, kb reads nothing with your connection until you agree. The values of all fixed arguments are shown.",
    of: CONNECTION,
    options: YES,
    examples: ["kb servers agree notes", "kb servers agree cnx_2222222222222222 --yes"],
    exitCodes: [5],
    call: route("post", "/api/mcp-servers/{id}/connections/{connectionId}/agreement", "connection"),
  },
  async ({ output, found: connection, options, deps, send }) => {
    const { name, agreement, owner, isMine } = connection;
    if (agreement === null) {
      const why = isMine
        ? "There is nothing to agree to."
        : `Only its owner, ${owner.name || "a former member"}, can agree.`;
      return output.result({ connection }, () => `${name}: ${why}`);
    }
    printTools(connection, output);
    await confirmed(options, deps, `Let kb call these tools with your connection ${name}?`);
    output.result(await send({ body: { agreement } }), () => `${name}: you agreed. Its connectors sync again.`);
  },
);

function printTools({ tools }: ConnectionRecord, output: Output): void {
  for (const { role, tool, args, argument, isReadOnly, isAgreed } of tools) {
    const fixed = Object.entries(args).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    const call = [...fixed, ...(argument === undefined ? [] : [`${argument}=…`])].join(", ");
    const says = isReadOnly === false ? "may change things" : "says that it only reads";
    output.talk(`${role}: ${tool}(${call}), ${says}${isAgreed ? "" : ", new to you"}`);
  }
}
