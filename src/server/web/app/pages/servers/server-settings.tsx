import type { ProviderServer } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { DeleteButton } from "#server/web/app/shell/delete-button.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { CheckboxField, Form, NameField, text } from "#server/web/app/ui/form.tsx";
import { AuthFields, authOf } from "./auth-fields.tsx";
import { PolicyField, policyOf, UrlField } from "./server-fields.tsx";

/** For admins: the server's URL, how kb signs in, who may connect it, and a button to remove it. */
export function Settings({ server }: { server: ProviderServer }) {
  const { id, name, url, auth, enabled, connectPolicy } = server;

  async function save(form: FormData): Promise<string> {
    const typed = text(form, "url");
    const body = {
      name: text(form, "name"),
      ...(typed !== url && { url: typed }),
      auth: authOf(form),
      enabled: form.get("enabled") !== null,
      connectPolicy: policyOf(form),
    };
    return savedWords(server, (await api.patch("/api/mcp-servers/{id}", { params: { path: { id } }, body })).server);
  }

  return (
    <Section action={<Delete server={server} />} title="Settings">
      <div className="max-w-xl" key={JSON.stringify([name, url, auth, enabled, connectPolicy])}>
        <Form invalidates={["servers"]} onSubmit={save} submit="Save" toast={(words) => words}>
          <NameField defaultValue={name} maxLength={100} />
          <UrlField
            defaultValue={url}
            hint="While people are connected or signing in, you can't move it to another host, or to a path that isn't below this one. Secrets are never sent there."
          />
          <AuthFields auth={auth} />
          <PolicyField defaultChecked={connectPolicy === "admins"} />
          <CheckboxField
            defaultChecked={enabled}
            hint="While it is off, nothing is read through it."
            label="On"
            name="enabled"
          />
        </Form>
      </div>
    </Section>
  );
}

/** Returns an admin's next steps after a change that has further effects. */
function savedWords(before: ProviderServer, after: ProviderServer): string {
  const [old, now] = [before.auth, after.auth];
  const isLost = old.hasSecret && !now.hasSecret && now.kind === old.kind && after.url !== before.url;
  const isOther = old.redirectUrl !== now.redirectUrl && old.clientId !== undefined && now.clientId !== undefined;
  const lines = [
    "Saved",
    ...(isLost ? ["The secret was for the old host: enter it again"] : []),
    ...(isOther ? ["Set the client's redirect URL at the provider to the new one"] : []),
  ];
  return lines.join(". ");
}

function Delete({ server: { id, name, counts } }: { server: ProviderServer }) {
  return (
    <DeleteButton
      name={name}
      onDelete={() => api.delete("/api/mcp-servers/{id}", { params: { path: { id } } })}
      then="/workspace/servers"
      what="server"
    >
      {counts.connections > 0 &&
        `${plural(counts.connections, "connection")} of people ${counts.connections === 1 ? "ends" : "end"}, and ${plural(counts.connectors, "connector")}. `}
      What was read through it disappears from search at once and is deleted for good. You can't undo this.
    </DeleteButton>
  );
}
