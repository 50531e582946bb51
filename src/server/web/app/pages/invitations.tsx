import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Invitation } from "#api/workspace.ts";
import { api } from "#server/web/app/data/client.ts";
import { invitationsQuery } from "#server/web/app/data/queries.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState } from "#server/web/app/ui/bits.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog, Dialog, DialogButton, ShownOnce, useClose } from "#server/web/app/ui/dialog.tsx";
import { EmailField, Form, SelectField, text } from "#server/web/app/ui/form.tsx";
import type { Choice } from "#server/web/app/ui/picker.tsx";
import { EmailAddress } from "#server/web/app/ui/email-address.tsx";
import { actsColumn, type Column, headColumn, timeColumn, IN_ROW } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Invitations: a list, and actions to invite and withdraw. */
export const Page = forAdmins("Invitations", Invitations);

function Invitations() {
  return (
    <PageFrame
      action={
        <DialogButton dialog={<InviteDialog />} icon="plus" kind="primary">
          Invite someone
        </DialogButton>
      }
      lead="An invitation works once, for one email address, and expires after a week."
      title="Invitations"
    >
      <TableSection
        columns={COLUMNS}
        empty={
          <EmptyState icon="mail" title="No invitations yet">
            Invite people to search this workspace. They see only what they can read in each source.
          </EmptyState>
        }
        keyOf="id"
        label="Invitations"
        query={useInfiniteQuery(invitationsQuery)}
        title="Sent"
      />
    </PageFrame>
  );
}

interface Invited {
  email: string;
  /** The link; null when the server sent it by mail. */
  url: string | null;
}

function InviteDialog() {
  const close = useClose();
  const { role } = useSession();
  const [made, setMade] = useState<Invited>();

  async function invite(fields: FormData): Promise<Invited> {
    const email = text(fields, "email");
    const body = { email, role: text(fields, "role") === "admin" ? ("admin" as const) : ("member" as const) };
    const { url } = await api.post("/api/workspace/invitations", { body });
    return { email, url };
  }

  if (made !== undefined) {
    return (
      <Dialog isSticky title="Share the invitation link">
        <ShownOnce
          warning={`This server doesn't send email. Copy this link now and send it to ${made.email}. You won't see it again, and it works only for that address.`}
        >
          <CopyField isOnce label="Link" value={made.url ?? ""} />
        </ShownOnce>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite someone">
      <Form
        invalidates={["invitations"]}
        onDone={(invited) => (invited.url === null ? close() : setMade(invited))}
        onSubmit={invite}
        submit="Invite"
        toast={({ email, url }) => (url === null ? `Invitation sent to ${email}` : undefined)}
      >
        <EmailField autoComplete="off" maxLength={254} />
        <SelectField choices={role === "owner" ? ROLES : ROLES.slice(0, 1)} label="Role" name="role" />
      </Form>
    </Dialog>
  );
}

/** Only owners can invite admins. */
const ROLES: readonly Choice[] = [
  ["member", "Member"],
  ["admin", "Admin: manages the workspace"],
];

const COLUMNS: Column<Invitation>[] = [
  headColumn("Address", ({ email }) => (
    <span className="font-medium">
      <EmailAddress address={email} />
    </span>
  )),
  { title: "Role", cell: ({ role }) => <span className="capitalize">{role}</span> },
  { title: "Status", cell: (invitation) => <State invitation={invitation} /> },
  timeColumn("Invited", "createdAt"),
  actsColumn((invitation) => isOpenNow(invitation) && <Withdraw invitation={invitation} />),
];

function Withdraw({ invitation: { id, email } }: { invitation: Invitation }) {
  const title = `Withdraw the invitation for ${email}`;
  return (
    <DialogButton
      {...IN_ROW}
      aria-label={title}
      dialog={
        <ConfirmDialog
          act="Withdraw"
          invalidates={["invitations"]}
          onConfirm={() => api.delete("/api/workspace/invitations/{id}", { params: { path: { id } } })}
          title={`${title}?`}
          toast="Invitation withdrawn"
        >
          Its link stops working immediately.
        </ConfirmDialog>
      }
    >
      Withdraw
    </DialogButton>
  );
}

function State({ invitation }: { invitation: Invitation }) {
  if (invitation.acceptedAt !== null) return <Badge tone="ok">Accepted</Badge>;
  if (!isOpenNow(invitation)) return <Badge>Expired</Badge>;
  return (
    <span>
      Pending, expires <Time at={invitation.expiresAt} />
    </span>
  );
}

function isOpenNow({ acceptedAt, expiresAt }: Invitation): boolean {
  return acceptedAt === null && Date.parse(expiresAt) > Date.now();
}
