import { useQuery } from "@tanstack/react-query";
import type { Session } from "#api/session.ts";
import { addressParameter, timeZones } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { entryQuery, identitiesQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { EmailField, Form, NameField, PasswordField, secret, SelectField, text } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { describeSsoFailure } from "./sso-words.ts";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast, tryOrToast } from "#server/web/app/ui/toast.tsx";

/** The person's profile: name, time zone, address, password and single sign-on. */
export function Page() {
  const { user } = useSession();
  const entry = useQuery(entryQuery);
  const failure = describeSsoFailure(addressParameter("error"));
  return (
    <PageFrame title="Profile">
      {failure && <Notice tone="danger">{failure}</Notice>}
      <About key={user.id} user={user} />
      <Address canMail={entry.data?.canMail === true} user={user} />
      <ChangePassword email={user.email} />
      {entry.data && entry.data.sso !== null && <SingleSignOn name={entry.data.sso} />}
    </PageFrame>
  );
}

function About({ user }: { user: Session["user"] }) {
  return (
    <Section title="About you">
      <Form
        invalidates={["session"]}
        onSubmit={(fields) => {
          const body = { name: text(fields, "name"), timeZone: text(fields, "timeZone") || null };
          return api.patch("/api/profile", { body });
        }}
        submit="Save"
        submitKind="plain"
        toast="Profile saved"
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <NameField autoComplete="name" defaultValue={user.name} maxLength={120} />
          <SelectField
            choices={[["", "Same as the workspace"], ...timeZones(user.timeZone ?? "UTC")]}
            defaultValue={user.timeZone ?? ""}
            hint="Used for dates such as “due today”."
            label="Time zone"
            name="timeZone"
          />
        </div>
      </Form>
    </Section>
  );
}

function Address({ user, canMail }: { user: Session["user"]; canMail: boolean }) {
  async function change(fields: FormData): Promise<string> {
    const email = text(fields, "email");
    const { sent } = await api.post("/api/profile/email", { body: { email, password: secret(fields, "password") } });
    return sent ? sentWords(email) : "Email address changed";
  }

  const verify = () =>
    tryOrToast(async () => {
      await api.post("/api/email-verification");
      toast(sentWords(user.email));
    });

  return (
    <Section
      description={canMail ? "We'll send a confirmation link to your new address." : "You use this address to sign in."}
      title="Email address"
    >
      <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="wrap-anywhere">{user.email}</span>
        {user.emailVerifiedAt === null ? <Badge tone="warn">Not confirmed</Badge> : <Badge tone="ok">Confirmed</Badge>}
        {user.emailVerifiedAt === null && canMail && (
          <Button onClick={() => void verify()}>Send confirmation link</Button>
        )}
      </div>
      <Form
        invalidates={["session"]}
        key={user.email}
        onSubmit={change}
        submit="Change address"
        submitKind="plain"
        toast={(words) => words}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <EmailField label="New address" maxLength={254} />
          <PasswordField autoComplete="current-password" label="Current password" name="password" />
        </div>
      </Form>
    </Section>
  );
}

function sentWords(email: string): string {
  return `We sent a link to ${email}. Open it to confirm.`;
}

function ChangePassword({ email }: { email: string }) {
  function change(fields: FormData): Promise<unknown> {
    const body = { currentPassword: secret(fields, "currentPassword"), newPassword: secret(fields, "newPassword") };
    return api.post("/api/profile/password", { body });
  }
  return (
    <Section
      description="Changing your password ends your other sessions and disconnects your clients. Personal access tokens keep working."
      title="Password"
    >
      <Form
        invalidates={["sessions"]}
        onSubmit={change}
        resets
        submit="Change password"
        submitKind="plain"
        toast="Password changed"
      >
        {/* For password managers: this is the account's user name. */}
        <input autoComplete="username" className="hidden" readOnly type="text" value={email} />
        <div className="grid gap-4 sm:grid-cols-2">
          <PasswordField autoComplete="current-password" label="Current password" name="currentPassword" />
          <PasswordField autoComplete="new-password" label="New password" name="newPassword" />
        </div>
      </Form>
    </Section>
  );
}

function SingleSignOn({ name }: { name: string }) {
  const identities = useQuery(identitiesQuery);
  async function link(fields: FormData): Promise<void> {
    const { url } = await api.post("/api/sso/link", { body: { password: secret(fields, "password") } });
    window.location.assign(url);
  }
  return (
    <Section description={`Sign in with ${name} instead of your password.`} title="Single sign-on">
      <Loaded lines={1} query={identities}>
        {({ identities }) =>
          identities.length > 0 ? (
            <ul className="space-y-1">
              {identities.map(({ issuer, label, createdAt }) => (
                <li key={`${issuer} ${label}`}>
                  <span className="font-medium wrap-anywhere">{label}</span>{" "}
                  <span className="text-muted">
                    linked <Time at={createdAt} />
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <Form onSubmit={link} submit={`Link with ${name}`} submitKind="plain">
              <div className="grid gap-4 sm:grid-cols-2">
                <PasswordField autoComplete="current-password" label="Current password" name="password" />
              </div>
            </Form>
          )
        }
      </Loaded>
    </Section>
  );
}
