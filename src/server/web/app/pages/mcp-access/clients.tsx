import { clientLines, type Lines } from "#api/clients.ts";
import { CodeBlock } from "#server/web/app/ui/copy-field.tsx";
import { Tabs } from "#server/web/app/ui/tabs.tsx";

/** Ready-made configuration for each client. None of it contains a token. */
export function Clients({ mcpUrl }: { mcpUrl: string }) {
  const baseUrl = new URL(mcpUrl).origin;
  const clients = clientLines({ mcpUrl, baseUrl });
  return (
    <Tabs
      label="Clients"
      tabs={clients.map(({ id, name, bridge, http, note }) => ({
        id,
        title: name,
        body: (
          <>
            <p className="text-muted">
              We recommend the bridge on your own machine. Install <code className="font-mono">kb</code> there (
              <code className="font-mono">npm install --global --ignore-scripts</code> and the package file), then sign
              in:
            </p>
            <CodeBlock label="Sign in" value={`kb login ${baseUrl}`}>
              Run in a terminal
            </CodeBlock>
            <Way lead={bridge.file === null ? "Then run" : "Then add"} label={`${name}, bridge`} lines={bridge} />
            {note && <p className="text-muted">{note}</p>}
            {http && (
              <details>
                <summary className="text-accent font-medium">Use HTTP instead of the bridge</summary>
                <div className="pt-3">
                  <Way
                    lead={
                      http.text.includes("KB_TOKEN") ? "With a token in KB_TOKEN" : "The client asks for a token once"
                    }
                    label={`${name}, HTTP`}
                    lines={http}
                  />
                </div>
              </details>
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
      {lines.file && (
        <>
          {" in "}
          <code className="text-ink font-mono text-[0.8125rem] wrap-anywhere">{lines.file}</code>
        </>
      )}
    </CodeBlock>
  );
}
