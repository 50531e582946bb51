import { useQuery } from "@tanstack/react-query";
import { tokensQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Clients } from "./clients.tsx";
import { FirstCall, NothingIndexed } from "./first-call.tsx";
import { Grants } from "./grants.tsx";
import { Tokens } from "./tokens.tsx";

/** Access for agents: the address, tokens, configuration for each client, and connected apps. */
export function Page() {
  const tokens = useQuery(tokensQuery);
  return (
    <PageFrame lead="Agents can search and read what you can read in this workspace." title="MCP access">
      <NothingIndexed />
      <Section description="Copy these lines. They contain no token: kb login stores it." title="Connect a client">
        <div className="space-y-5">
          <Loaded query={tokens}>{({ mcpUrl }) => <Clients mcpUrl={mcpUrl} />}</Loaded>
          <FirstCall />
        </div>
      </Section>
      <Section description="Clients that support OAuth need only this URL." title="MCP URL">
        <Loaded lines={1} query={tokens}>
          {({ mcpUrl }) => <CopyField label="MCP URL" value={mcpUrl} />}
        </Loaded>
      </Section>
      <Tokens />
      <Grants />
    </PageFrame>
  );
}
