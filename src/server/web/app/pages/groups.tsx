import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { describeOpening } from "#api/opening-words.ts";
import type { Group, Member } from "#api/workspace.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { everybodyQuery, groupQuery, groupsQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Groups of members, which may contain groups; connectors can be opened to them. */
export function Page() {
  const { role, user } = useSession();
  const query = useInfiniteQuery(groupsQuery);
  const everybody = useQuery(everybodyQuery).data?.members ?? [];
  const [editing, setEditing] = useState<Group | "new">();
  const [deleting, setDeleting] = useState<Group>();
  const client = useQueryClient();
  const groups = query.data?.pages.flatMap(({ groups }) => groups) ?? [];

  async function remove(): Promise<void> {
    if (deleting === undefined) return;
    await take(api.DELETE("/api/groups/{id}", { params: { path: { id: deleting.id } } }));
    toast(`${deleting.name} deleted`);
    await client.invalidateQueries({ queryKey: groupsQuery.queryKey });
  }

  const make = (
    <Button icon="plus" kind="primary" onClick={() => setEditing("new")}>
      Create group
    </Button>
  );
  return (
    <>
      <PageHeading title="Groups" {...(isAdmin(role) && { action: make })}>
        Use groups to share connectors. Groups can contain other groups.
      </PageHeading>
      <Section title="In this workspace">
        <LoadedPages query={query} rowsOf={({ groups }) => groups}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState icon="groups" title="No groups yet">
                {isAdmin(role) ? "Create a group for people who need the same access." : "Ask an admin to create one."}
              </EmptyState>
            ) : (
              <Table
                columns={columns({
                  groups,
                  everybody,
                  canEdit: (group) => group.ownerId === user.id || (isAdmin(role) && !group.isClosed),
                  onEdit: setEditing,
                  onDelete: setDeleting,
                })}
                keyOf={({ id }) => id}
                label="Groups"
                rows={rows}
              />
            )
          }
        </LoadedPages>
      </Section>
      <Dialog
        isOpen={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === "new" || editing === undefined ? "Create group" : `Edit ${editing.name}`}
      >
        <GroupForm
          everybody={everybody}
          group={editing === "new" ? undefined : editing}
          groups={groups}
          isOwn={editing === "new" || editing?.ownerId === user.id}
          onDone={() => setEditing(undefined)}
        />
        {editing !== undefined && editing !== "new" && editing.ownerId === user.id && (
          <OpenedByOthers groupId={editing.id} />
        )}
      </Dialog>
      <ConfirmDialog
        act="Delete"
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        onConfirm={remove}
        title={`Delete ${deleting?.name ?? ""}?`}
      >
        <p>People who have access only through this group lose that access. They stay in the workspace.</p>
      </ConfirmDialog>
    </>
  );
}

interface FormProps {
  group: Group | undefined;
  groups: readonly Group[];
  everybody: readonly Member[];
  /** Only its owner can close it. */
  isOwn: boolean;
  onDone(): void;
}

function GroupForm({ group, groups, everybody, isOwn, onDone }: FormProps) {
  const client = useQueryClient();

  async function save(fields: FormData): Promise<void> {
    const chosen = (name: string) => fields.getAll(name).map(String);
    const body = {
      name: text(fields, "name"),
      memberIds: chosen("memberIds"),
      groupIds: chosen("groupIds"),
      ...(isOwn && { isClosed: chosen("isClosed").length > 0 }),
    };
    await take(
      group === undefined
        ? api.POST("/api/groups", { body })
        : api.PATCH("/api/groups/{id}", { params: { path: { id: group.id } }, body }),
    );
    await client.invalidateQueries({ queryKey: groupsQuery.queryKey });
    toast(`${body.name} ${group === undefined ? "created" : "saved"}`);
    onDone();
  }

  const others = groups.filter(({ id }) => id !== group?.id);
  return (
    <Form onSubmit={save} submit={group === undefined ? "Create group" : "Save"}>
      <TextField autoComplete="off" defaultValue={group?.name} label="Name" maxLength={120} name="name" />
      <Choices
        chosen={group?.memberIds ?? []}
        choices={everybody.map(({ userId, name, email }) => ({ id: userId, label: name, hint: email }))}
        legend="Members"
        name="memberIds"
      />
      {others.length > 0 && (
        <Choices
          chosen={group?.groupIds ?? []}
          choices={others.map(({ id, name }) => ({ id, label: name }))}
          legend="Nested groups"
          name="groupIds"
        />
      )}
      {isOwn && (
        <CheckboxField
          defaultChecked={group?.isClosed ?? false}
          hint="Admins can't edit a closed group or add themselves to it."
          label="Close this group, so that only you can edit it"
          name="isClosed"
          value="yes"
        />
      )}
    </Form>
  );
}

/** Changes by admins to a group while it was open, for its owner. */
function OpenedByOthers({ groupId }: { groupId: string }) {
  const openings = useQuery(groupQuery(groupId)).data?.group.openedByOthers ?? [];
  if (openings.length === 0) return null;
  return (
    <section className="border-line mt-5 border-t pt-4">
      <h3 className="font-medium">Access that others opened in the last 90 days</h3>
      <ul className="mt-1 space-y-1">
        {openings.map((opening) => (
          <li className="wrap-anywhere" key={`${opening.at} ${opening.target.id} ${opening.by?.id}`}>
            {describeOpening(opening, groupId)}{" "}
            <span className="text-muted">
              · <Time at={opening.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A list of checkboxes, with a filter field when it is long; ticked entries stay ticked while they are filtered out. */
function Choices({
  legend,
  name,
  choices,
  chosen,
}: {
  legend: string;
  name: string;
  choices: readonly { id: string; label: string; hint?: string }[];
  chosen: readonly string[];
}) {
  const [words, setWords] = useState("");
  const fits = (label: string, hint = "") => `${label} ${hint}`.toLowerCase().includes(words.trim().toLowerCase());
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      {choices.length > 8 && (
        <input
          aria-label={`Filter ${legend.toLowerCase()}`}
          className="border-edge bg-surface mb-1 w-full rounded-md border px-2.5 py-1.5 max-sm:text-base"
          onChange={(event) => setWords(event.currentTarget.value)}
          placeholder="Name or address"
          type="search"
          value={words}
        />
      )}
      <div className="border-line max-h-52 overflow-y-auto rounded-md border px-3 py-1.5">
        {choices.map(({ id, label, hint }) => (
          <div className={fits(label, hint) ? "" : "hidden"} key={id}>
            <CheckboxField
              defaultChecked={chosen.includes(id)}
              label={label}
              name={name}
              value={id}
              {...(hint !== undefined && { hint })}
            />
          </div>
        ))}
      </div>
    </fieldset>
  );
}

interface ColumnOptions {
  groups: readonly Group[];
  everybody: readonly Member[];
  canEdit(group: Group): boolean;
  onEdit(group: Group): void;
  onDelete(group: Group): void;
}

function columns({ groups, everybody, canEdit, onEdit, onDelete }: ColumnOptions): Column<Group>[] {
  const nameOf = (id: string) => tellApart(everybody, id) ?? groups.find((group) => group.id === id)?.name ?? id;
  const list = (ids: readonly string[]) =>
    ids.length === 0 ? (
      <span className="text-muted">None</span>
    ) : (
      <span className="wrap-break-word">
        {ids.slice(0, 4).map(nameOf).join(", ")}
        {ids.length > 4 && ` and ${ids.length - 4} more`}
      </span>
    );
  return [
    { title: "Name", isHeadless: true, cell: ({ name }) => <span className="font-medium wrap-anywhere">{name}</span> },
    {
      title: "Owner",
      cell: ({ ownerId, isClosed }) => (
        <span className="wrap-break-word">
          {ownerId === null ? <span className="text-muted">Former member</span> : nameOf(ownerId)}
          {isClosed && <span className="text-muted"> · closed</span>}
        </span>
      ),
    },
    {
      title: "Members",
      cell: ({ memberIds, groupIds }) => (
        <>
          {(memberIds.length > 0 || groupIds.length === 0) && <span className="block">{list(memberIds)}</span>}
          {groupIds.length > 0 && (
            <span className="block">
              <span className="text-muted">Groups:</span> {list(groupIds)}
            </span>
          )}
        </>
      ),
    },
    {
      title: ACTS,
      isHeadless: true,
      cell: (group) =>
        canEdit(group) ? (
          <span className="flex gap-1 @2xl:-my-1.5 @2xl:-mr-2 @2xl:justify-end">
            <Button aria-label={`Edit ${group.name}`} kind="quiet" onClick={() => onEdit(group)}>
              Edit
            </Button>
            <Button aria-label={`Delete ${group.name}`} kind="quiet" onClick={() => onDelete(group)}>
              Delete
            </Button>
          </span>
        ) : null,
    },
  ];
}

/** A member's name, with the address if someone else has the same name. */
function tellApart(everybody: readonly Member[], id: string): string | undefined {
  const member = everybody.find(({ userId }) => userId === id);
  const isSame = ({ userId, name }: Member) => userId !== id && name.toLowerCase() === member?.name.toLowerCase();
  return member !== undefined && everybody.some(isSame) ? `${member.name} (${member.email})` : member?.name;
}
