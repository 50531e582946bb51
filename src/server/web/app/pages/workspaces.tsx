import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deviceTimeZone } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { workspacesQuery } from "#server/web/app/data/queries.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { switchWorkspace } from "#server/web/app/shell/switch-workspace.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Form, NameField, text } from "#server/web/app/ui/form.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";

/** Chooses the workspace to work in, or creates one. */
export function Page() {
  const mine = useQuery(workspacesQuery);
  const [isMaking, setMaking] = useState(false);
  if (isMaking) return <MakeWorkspace onBack={() => setMaking(false)} />;
  return (
    <EntryCard
      below={<a href="/">Back</a>}
      lead="Each workspace has its own connectors, tokens and members."
      title="Choose a workspace"
    >
      <Loaded query={mine}>
        {({ workspaces }) => (
          <ul className="border-line divide-line mb-4 divide-y rounded-lg border">
            {workspaces.map(({ id, name, role, current }) => (
              <li key={id}>
                <button
                  className="hover:bg-ink/5 flex min-h-11 w-full items-center gap-2 px-3 py-2 text-left first:rounded-t-lg last:rounded-b-lg"
                  onClick={() => void switchWorkspace(id)}
                  type="button"
                >
                  <span className="min-w-0 flex-1">
                    <span className="block truncate font-medium">{name}</span>
                    <span className="text-muted block text-xs">You're {ROLES[role]}</span>
                  </span>
                  {current ? <Badge tone="accent">Current</Badge> : <Icon name="external" />}
                </button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Button className="w-full" icon="plus" onClick={() => setMaking(true)}>
        Create workspace
      </Button>
    </EntryCard>
  );
}

const ROLES = { owner: "the owner", admin: "an admin", member: "a member" } as const;

function MakeWorkspace({ onBack }: { onBack(): void }) {
  async function make(fields: FormData): Promise<void> {
    const body = { name: text(fields, "name"), timeZone: deviceTimeZone() };
    const { workspace } = await api.post("/api/workspaces", { body });
    await switchWorkspace(workspace.id);
  }
  return (
    <EntryCard
      below={
        <Button kind="quiet" onClick={onBack}>
          Back to your workspaces
        </Button>
      }
      lead="You become its owner. It starts empty and shares nothing with your other workspaces."
      title="Create workspace"
    >
      <Form isWide onSubmit={make} submit="Create workspace">
        <NameField autoComplete="organization" autoFocus maxLength={120} />
      </Form>
    </EntryCard>
  );
}
