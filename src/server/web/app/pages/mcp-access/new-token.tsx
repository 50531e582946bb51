import { useState } from "react";
import type { Scope } from "#api/common.ts";
import type { CreatedToken } from "#api/tokens.ts";
import { api } from "#server/web/app/data/client.ts";
import { SCOPE_WORDS } from "#server/web/app/shell/scope-words.ts";
import { useSession } from "#server/web/app/shell/session.ts";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Dialog, ShownOnce } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Fieldset, Form, NameField, SelectField, text } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";

const LIFETIMES: readonly Choice[] = [
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["", "Never"],
];

/** Creates a token, then shows the token once. */
export function NewToken() {
  const [made, setMade] = useState<CreatedToken>();
  if (made !== undefined) {
    return (
      <Dialog isSticky title="Token created">
        <Plaintext made={made} />
      </Dialog>
    );
  }
  return (
    <Dialog description="Create one per client or script, so you can revoke each on its own." title="Create token">
      <TokenForm onMade={setMade} />
    </Dialog>
  );
}

function TokenForm({ onMade }: { onMade(made: CreatedToken): void }) {
  const { scopes } = useSession();

  async function create(fields: FormData): Promise<void> {
    const days = text(fields, "expiresInDays");
    const body = {
      name: text(fields, "name"),
      scopes: SCOPES.filter((scope) => fields.get(scope) !== null),
      ...(days !== "" && { expiresInDays: Number(days) }),
    };
    onMade(await api.post("/api/api-tokens", { body }));
  }

  return (
    <Form invalidates={["tokens"]} onSubmit={create} submit="Create token">
      <NameField maxLength={120} placeholder="Cursor on my laptop" />
      <SelectField choices={LIFETIMES} defaultValue="90" label="Expires" name="expiresInDays" />
      <Fieldset legend="Permissions">
        {SCOPES.filter((scope) => scopes.includes(scope)).map((scope) => (
          <CheckboxField
            defaultChecked={scope === "mcp:read"}
            hint={SCOPE_WORDS[scope].meaning}
            key={scope}
            label={SCOPE_WORDS[scope].title}
            name={scope}
          />
        ))}
      </Fieldset>
    </Form>
  );
}

const SCOPES: readonly Scope[] = ["mcp:read", "kb:api", "kb:admin"];

function Plaintext({ made: { plaintext, mcpUrl } }: { made: CreatedToken }) {
  return (
    <ShownOnce warning="Copy your token now. You won't see it again. Store it in a secret store or an environment variable, not in a repository.">
      <CopyField hasFocus isOnce label="Token" showsLabel value={plaintext} />
      <CopyField label="MCP URL" showsLabel value={mcpUrl} />
      <p className="text-muted">
        The HTTP examples under “Connect a client” read the token from <code className="font-mono">KB_TOKEN</code>.
      </p>
    </ShownOnce>
  );
}
