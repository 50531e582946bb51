import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Scope } from "#api/common.ts";
import type { CreatedToken } from "#api/tokens.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { tokensQuery } from "#server/web/app/data/queries.ts";
import { SCOPE_WORDS } from "#server/web/app/shell/scope-words.ts";
import { useSession } from "#server/web/app/shell/session.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Dialog } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

const LIFETIMES = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
  { value: "", label: "Never" },
];

/** Creates a token, then shows its plaintext once. */
export function NewToken({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const [made, setMade] = useState<CreatedToken>();
  function close(): void {
    setMade(undefined);
    onClose();
  }
  return (
    <Dialog
      description={
        made === undefined ? "Create one per client or script, so you can revoke each on its own." : undefined
      }
      isOpen={isOpen}
      isSticky={made !== undefined}
      onClose={close}
      title={made === undefined ? "Create token" : "Token created"}
    >
      {made === undefined ? <TokenForm onMade={setMade} /> : <Plaintext made={made} onDone={close} />}
    </Dialog>
  );
}

function TokenForm({ onMade }: { onMade(made: CreatedToken): void }) {
  const { scopes } = useSession();
  const client = useQueryClient();

  async function create(fields: FormData): Promise<void> {
    const days = text(fields, "expiresInDays");
    const body = {
      name: text(fields, "name"),
      scopes: SCOPES.filter((scope) => fields.get(scope) !== null),
      ...(days !== "" && { expiresInDays: Number(days) }),
    };
    onMade(await take(api.POST("/api/api-tokens", { body })));
    await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  }

  return (
    <Form onSubmit={create} submit="Create token">
      <TextField autoComplete="off" label="Name" maxLength={120} name="name" placeholder="Cursor on my laptop" />
      <SelectField choices={LIFETIMES} defaultValue="90" label="Expires" name="expiresInDays" />
      <fieldset>
        <legend className="mb-1 font-medium">Permissions</legend>
        {SCOPES.filter((scope) => scopes.includes(scope)).map((scope) => (
          <CheckboxField
            defaultChecked={scope === "mcp:read"}
            hint={SCOPE_WORDS[scope].meaning}
            key={scope}
            label={SCOPE_WORDS[scope].title}
            name={scope}
          />
        ))}
      </fieldset>
    </Form>
  );
}

const SCOPES: readonly Scope[] = ["mcp:read", "kb:api", "kb:admin"];

function Plaintext({ made, onDone }: { made: CreatedToken; onDone(): void }) {
  const place = useRef<HTMLDivElement>(null);
  // The field with the token gets the focus, selected.
  useEffect(() => place.current?.querySelector("input")?.focus(), []);
  return (
    <div className="space-y-4" ref={place}>
      <Notice tone="warn">
        Copy your token now. You won't see it again. Store it in a secret store or an environment variable, not in a
        repository.
      </Notice>
      <CopyField isOnce label="Token" showsLabel value={made.plaintext} />
      <CopyField label="MCP URL" showsLabel value={made.mcpUrl} />
      <p className="text-muted">
        The HTTP examples under “Connect a client” read the token from <code className="font-mono">KB_TOKEN</code>.
      </p>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
