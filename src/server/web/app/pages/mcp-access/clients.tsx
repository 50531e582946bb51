import { clientLines, type Lines } from "#api/clients.ts";
import { CodeBlock } from "#server/web/app/ui/copy-field.tsx";
import { Tabs } from "#server/web/app/ui/tabs.tsx";

/** Ready-made lines for each client; none holds a token. */
export function Clients({ mcpUrl }: { mcpUrl: string }) {
  const baseUrl = new URL(mcpUrl).origin;
  const clients = clientLines({ mcpUrl, baseUrl });
  return (
    <Tabs
      label="Clients"
      tabs={clients.map(({ id, name, bridge, http }) => ({
        id,
        title: name,
        body: (
          <>
            <Way
              lead={`Through the bridge on your own machine, after kb login ${baseUrl}`}
              label={`${name}, bridge`}
              lines={bridge}
            />
            {http !== null && (
              <Way
                lead={
                  http.text.includes("KB_TOKEN")
                    ? "Over HTTP, with a token in the variable KB_TOKEN"
                    : "Over HTTP; the program asks for a token once"
                }
                label={`${name}, HTTP`}
                lines={http}
              />
            )}
          </>
        ),
      }))}
    />
  );
}

function Way({ lead, label, lines }: { lead: string; label: string; lines: Lines }) {
  return (
    <CodeBlock label={label} value={lines.text}>
      {lead}
      {lines.file !== null && (
        <>
          {" in "}
          <code className="text-ink font-mono text-[0.8125rem] wrap-anywhere">{lines.file}</code>
        </>
      )}
    </CodeBlock>
  );
}
