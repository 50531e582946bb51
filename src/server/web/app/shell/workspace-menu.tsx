import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Session } from "#api/session.ts";
import { workspacesQuery } from "#server/web/app/data/queries.ts";
import { Mark } from "#server/web/app/ui/icon.tsx";
import { Menu, MenuChoice, MenuItem, MenuLine } from "#server/web/app/ui/menu.tsx";
import { switchWorkspace } from "./switch-workspace.ts";

/** The person's current workspace, with a menu of the others and a link to create one. */
export function WorkspaceMenu({ session: { workspace } }: { session: Session }) {
  const mine = useQuery(workspacesQuery).data?.workspaces ?? [];
  const navigate = useNavigate();
  const choices = mine.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Menu
      button={
        <>
          <Mark size={26} />
          <span className="min-w-0 flex-1 truncate font-semibold tracking-tight">{workspace.name}</span>
          <span className="sr-only">Switch workspace</span>
        </>
      }
    >
      {choices.length > 0 && (
        <>
          <MenuChoice
            choices={choices}
            label="Workspaces"
            onChoose={(id) => void switchWorkspace(id)}
            value={workspace.id}
          />
          <MenuLine />
        </>
      )}
      <MenuItem icon="plus" onSelect={() => void navigate({ to: "/workspaces" })}>
        Switch or create workspace
      </MenuItem>
    </Menu>
  );
}
