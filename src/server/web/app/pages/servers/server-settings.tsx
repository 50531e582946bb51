import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ProviderServer } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { AuthFields, authOf } from "./auth-fields.tsx";

/** For admins: its URL, how kb signs in, who may connect it; and its removal. */
export function Settings({ server }: { server: ProviderServer }) {
  const { id, name, url, auth, enabled, connectPolicy } = server;
  const client = useQueryClient();

  async function save(form: FormData): Promise<void> {
    const typed = text(form, "url");
    const body = {
      name: text(form, "name"),
      ...(typed !== url && { url: typed }),
      auth: authOf(form),
      enabled: form.get("enabled") !== null,
      connectPolicy: form.get("isForAdmins") === null ? ("members" as const) : ("admins" as const),
    };
    const { server: changed } = await take(api.PATCH("/api/mcp-servers/{id}", { params: { path: { id } }, body }));
    toast(savedWords(server, changed));
    await client.invalidateQueries({ queryKey: ["servers"] });
  }

  return (
    <Section action={<Delete server={server} />} title="Settings">
      <div className="max-w-xl" key={JSON.stringify([name, url, auth, enabled, connectPolicy])}>
        <Form onSubmit={save} submit="Save">
          <TextField autoComplete="off" defaultValue={name} label="Name" maxLength={100} name="name" />
          <TextField
            autoComplete="off"
            defaultValue={url}
            hint="While people are connected or signing in, you can't move it to another host, or to a path that isn't below this one. Secrets are never sent there."
            inputMode="url"
            label="URL"
            maxLength={2000}
            name="url"
            spellCheck={false}
          />
          <AuthFields auth={auth} />
          <CheckboxField
            defaultChecked={connectPolicy === "admins"}
            hint="Otherwise every member can connect their account."
            label="Only admins can connect it"
            name="isForAdmins"
          />
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

/** An admin's next steps after a change with further effects. */
function savedWords(before: ProviderServer, after: ProviderServer): string {
  const [old, now] = [before.auth, after.auth];
  const isLost = old.hasSecret && !now.hasSecret && now.kind === old.kind && after.url !== before.url;
  const isOther = old.redirectUrl !== now.redirectUrl && old.clientId !== undefined && now.clientId !== undefined;
  const lines = [
    "Saved",
    ...(isLost ? ["The secret was for the old host: enter it again"] : []),
    ...(isOther ? ["Give the client at the provider the new redirect URL"] : []),
  ];
  return lines.join(". ");
}

function Delete({ server: { id, name, counts } }: { server: ProviderServer }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();

  async function remove(): Promise<void> {
    await take(api.DELETE("/api/mcp-servers/{id}", { params: { path: { id } } }));
    toast(`${name} deleted`);
    await navigate({ to: "/workspace/servers" });
    await client.invalidateQueries({ queryKey: ["servers"] });
  }

  return (
    <>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        Delete server
      </Button>
      <ConfirmDialog
        act="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={remove}
        title={`Delete “${name}”?`}
      >
        <p>
          {counts.connections > 0 &&
            `${plural(counts.connections, "connection")} of people ${counts.connections === 1 ? "ends" : "end"}, and ${plural(counts.connectors, "connector")}. `}
          What was read through it disappears from search at once and is deleted for good. You can't undo this.
        </p>
      </ConfirmDialog>
    </>
  );
}
