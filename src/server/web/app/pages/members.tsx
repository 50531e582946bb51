import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "#api/common.ts";
import type { Member } from "#api/workspace.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { entryQuery, membersQuery } from "#server/web/app/data/queries.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog, Dialog, DialogButton, ShownOnce } from "#server/web/app/ui/dialog.tsx";
import { EmailAddress } from "#server/web/app/ui/email-address.tsx";
import { type Choice, Options, Picker, PLAIN } from "#server/web/app/ui/picker.tsx";
import { actsColumn, type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";
import { toast, tryOrToast } from "#server/web/app/ui/toast.tsx";

/**
 * The members of the workspace with their roles. Owners and admins can also change roles, remove members and make links
 * for a new password.
 */
export function Page() {
  return (
    <PageFrame
      lead="Each source decides what a member can read. Admins manage the workspace, but their role doesn't let them read more."
      title="Members"
    >
      <TableSection
        columns={COLUMNS}
        keyOf="userId"
        label="Members"
        query={useInfiniteQuery(membersQuery)}
        title="In this workspace"
      />
    </PageFrame>
  );
}

const COLUMNS: Column<Member>[] = [
  headColumn("Name", (member) => <Name member={member} />),
  { title: "Role", cell: (member) => <RoleOf member={member} /> },
  timeColumn("Joined", "joinedAt"),
  actsColumn((member) => <Acts member={member} />),
];

function Name({ member: { name, email, userId } }: { member: Member }) {
  const { user } = useSession();
  return (
    <>
      <span className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
        {name}
        {userId === user.id && <Badge tone="accent">You</Badge>}
      </span>
      <span className="text-muted text-xs">
        <EmailAddress address={email} />
      </span>
    </>
  );
}

const ROLES: readonly Choice[] = [
  ["owner", "Owner"],
  ["admin", "Admin"],
  ["member", "Member"],
];
const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: "an owner", admin: "an admin", member: "a member" };
const RANKS: Readonly<Record<Role, number>> = { owner: 2, admin: 1, member: 0 };

/** A member's role. Owners can change it. */
function RoleOf({ member: { name, role, userId } }: { member: Member }) {
  const me = useSession();
  const refetch = useRefetch();

  async function change(wanted: Role): Promise<void> {
    await tryOrToast(async () => {
      await api.patch("/api/workspace/members/{id}", { params: { path: { id: userId } }, body: { role: wanted } });
      toast(`${name} is now ${ROLE_WORDS[wanted]}`);
    });
    await refetch(["members"]);
  }

  if (me.role !== "owner") return <span className="capitalize">{role}</span>;
  return (
    <Picker
      className={`${PLAIN} @2xl:-my-1.5`}
      label={`Role of ${name}`}
      onChoose={(wanted) => void change(wanted as Role)} // one of `ROLES`
      value={role}
    >
      <Options choices={ROLES} />
    </Picker>
  );
}

function Acts({ member }: { member: Member }) {
  const me = useSession();
  const isBelowMe = RANKS[member.role] < RANKS[me.role];
  return (
    <span className="flex flex-wrap gap-1 @2xl:-my-1.5 @2xl:-mr-2 @2xl:justify-end">
      {isBelowMe && <ResetPassword member={member} />}
      {(isBelowMe || member.userId === me.user.id) && <Remove member={member} />}
    </span>
  );
}

function ResetPassword({ member: { userId, name, email } }: { member: Member }) {
  const { role } = useSession();
  const entry = useQuery(entryQuery);
  const [link, setLink] = useState<string>();
  // Without email, the person who makes the link receives it, so only an owner may make one.
  if (role !== "owner" && !entry.data?.canMail) return null;

  const make = () =>
    tryOrToast(async () => {
      const { url } = await api.post("/api/workspace/members/{id}/password-reset", {
        params: { path: { id: userId } },
      });
      if (url === null) toast(`Reset link sent to ${email}`);
      else setLink(url);
    });
  return (
    <>
      <Button aria-label={`Reset password of ${name}`} kind="quiet" onClick={() => void make()}>
        Reset password
      </Button>
      {link && (
        <Dialog isSticky onClose={() => setLink(undefined)} title={`Password reset link for ${name}`}>
          <ShownOnce
            warning={`Copy this link now. You won't see it again. Anyone who opens it can set the password, so send it where only ${name} can read it.`}
          >
            <CopyField isOnce label="Link" value={link} />
          </ShownOnce>
        </Dialog>
      )}
    </>
  );
}

function Remove({ member: { userId, name } }: { member: Member }) {
  const isLeaving = useSession().user.id === userId;

  async function remove(): Promise<void> {
    await api.delete("/api/workspace/members/{id}", { params: { path: { id: userId } } });
    if (isLeaving) await leaveFor("/", "replace");
  }

  return (
    <DialogButton
      aria-label={isLeaving ? undefined : `Remove ${name}`}
      dialog={
        <ConfirmDialog
          act={isLeaving ? "Leave" : "Remove"}
          invalidates={["members"]}
          onConfirm={remove}
          title={isLeaving ? "Leave this workspace?" : `Remove ${name}?`}
          toast={`${name} removed`}
        >
          {isLeaving ? "Your" : "Their"} sessions, tokens and connected clients in this workspace stop working
          immediately. A new invitation doesn't restore them.
        </ConfirmDialog>
      }
      kind="quiet"
    >
      {isLeaving ? "Leave" : "Remove"}
    </DialogButton>
  );
}
