import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { describeOpening } from "#api/opening-words.ts";
import type { Group, Member } from "#api/workspace.ts";
import { api } from "#server/web/app/data/client.ts";
import { groupQuery, groupsQuery, useEverybody } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useIsAdmin, useSession } from "#server/web/app/shell/session.ts";
import { EmptyState } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, Dialog, DialogButton, useClose } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Fieldset, Form, NameField, text } from "#server/web/app/ui/form.tsx";
import { SearchField } from "#server/web/app/ui/search-field.tsx";
import { actsColumn, type Column, headColumn } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Groups of members, which may contain other groups. Connectors can be opened to groups. */
export function Page() {
  const isAdmin = useIsAdmin();
  const query = useInfiniteQuery(groupsQuery);
  const everybody = useEverybody();
  const all = { everybody, groups: query.data ?? [] };
  return (
    <PageFrame
      action={
        isAdmin && (
          <DialogButton dialog={<GroupDialog {...all} />} icon="plus" kind="primary">
            Create group
          </DialogButton>
        )
      }
      lead="Use groups to share connectors. Groups can contain other groups."
      title="Groups"
    >
      <TableSection
        columns={columns(all)}
        empty={
          <EmptyState icon="groups" title="No groups yet">
            {isAdmin ? "Create a group for people who need the same access." : "Ask an admin to create one."}
          </EmptyState>
        }
        keyOf="id"
        label="Groups"
        query={query}
        title="In this workspace"
      />
    </PageFrame>
  );
}

/** The members and groups that a group can contain. */
interface All {
  groups: readonly Group[];
  everybody: readonly Member[];
}

interface GroupDialogProps extends All {
  /** The group to edit; undefined for a new group. */
  group?: Group;
}

function GroupDialog({ group, groups, everybody }: GroupDialogProps) {
  const close = useClose();
  const { user } = useSession();
  // Only the group's owner can close it.
  const isOwn = group === undefined || group.ownerId === user.id;

  function save(fields: FormData): Promise<{ group: Group }> {
    const chosen = (name: string) => fields.getAll(name).map(String);
    const body = {
      name: text(fields, "name"),
      memberIds: chosen("memberIds"),
      groupIds: chosen("groupIds"),
      ...(isOwn && { isClosed: chosen("isClosed").length > 0 }),
    };
    return group === undefined
      ? api.post("/api/groups", { body })
      : api.patch("/api/groups/{id}", { params: { path: { id: group.id } }, body });
  }

  const others = groups.filter(({ id }) => id !== group?.id);
  return (
    <Dialog title={group === undefined ? "Create group" : `Edit ${group.name}`}>
      <Form
        invalidates={["groups"]}
        onDone={close}
        onSubmit={save}
        submit={group === undefined ? "Create group" : "Save"}
        toast={({ group: { name } }) => `${name} ${group === undefined ? "created" : "saved"}`}
      >
        <NameField defaultValue={group?.name} maxLength={120} />
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
      {group && isOwn && <OpenedByOthers groupId={group.id} />}
    </Dialog>
  );
}

/** Changes that admins made to a group while it was open, for its owner. */
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

/** A list of checkboxes, with a filter field if it is long. Ticked entries stay ticked while they are filtered out. */
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
    <Fieldset legend={legend}>
      {choices.length > 8 && (
        <SearchField
          className="mb-1 max-sm:text-base"
          label={`Filter ${legend.toLowerCase()}`}
          onType={setWords}
          placeholder="Name or address"
          value={words}
        />
      )}
      <div className="border-line max-h-52 overflow-y-auto rounded-md border px-3 py-1.5">
        {choices.map(({ id, label, hint }) => (
          <div className={fits(label, hint) ? "" : "hidden"} key={id}>
            <CheckboxField defaultChecked={chosen.includes(id)} hint={hint} label={label} name={name} value={id} />
          </div>
        ))}
      </div>
    </Fieldset>
  );
}

function columns(all: All): Column<Group>[] {
  const nameOf = (id: string) =>
    distinguish(all.everybody, id) ?? all.groups.find((group) => group.id === id)?.name ?? id;
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
    headColumn("Name", ({ name }) => <span className="font-medium wrap-anywhere">{name}</span>),
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
    actsColumn((group) => <Acts {...all} group={group} />),
  ];
}

/** Actions for the group's owner and, unless it is closed for admins, for admins. */
function Acts({ group, ...all }: All & { group: Group }) {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const { id, name, ownerId, isClosed } = group;
  if (ownerId !== user.id && (!isAdmin || isClosed)) return null;
  return (
    <span className="flex gap-1 @2xl:-my-1.5 @2xl:-mr-2 @2xl:justify-end">
      <DialogButton aria-label={`Edit ${name}`} dialog={<GroupDialog {...all} group={group} />} kind="quiet">
        Edit
      </DialogButton>
      <DialogButton
        aria-label={`Delete ${name}`}
        dialog={
          <ConfirmDialog
            act="Delete"
            invalidates={["groups"]}
            onConfirm={() => api.delete("/api/groups/{id}", { params: { path: { id } } })}
            title={`Delete ${name}?`}
            toast={`${name} deleted`}
          >
            People who have access only through this group lose that access. They stay in the workspace.
          </ConfirmDialog>
        }
        kind="quiet"
      >
        Delete
      </DialogButton>
    </span>
  );
}

/** Returns a member's name, with the address if another member has the same name. */
function distinguish(everybody: readonly Member[], id: string): string | undefined {
  const member = everybody.find(({ userId }) => userId === id);
  const isSame = ({ userId, name }: Member) => userId !== id && name.toLowerCase() === member?.name.toLowerCase();
  return member !== undefined && everybody.some(isSame) ? `${member.name} (${member.email})` : member?.name;
}
