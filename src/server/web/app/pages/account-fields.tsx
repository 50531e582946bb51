import { deviceTimeZone } from "#server/web/app/data/browser.ts";
import { EmailField, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";

interface AccountFieldsProps {
  /** The first field gets the focus. */
  hasFocus: boolean;
  workspaceHint?: string;
}

/** Fields for a new person and the workspace that is created for them. */
export function AccountFields({ hasFocus, workspaceHint }: AccountFieldsProps) {
  return (
    <>
      <TextField autoComplete="name" autoFocus={hasFocus} label="Your name" maxLength={120} name="name" />
      <EmailField maxLength={254} />
      <PasswordField autoComplete="new-password" label="Password" name="password" />
      <TextField
        autoComplete="organization"
        hint={workspaceHint}
        label="Workspace name"
        maxLength={120}
        name="workspaceName"
      />
    </>
  );
}

/** Returns the fields' values in the form that the API expects. */
export function accountOf(fields: FormData) {
  return {
    name: text(fields, "name"),
    email: text(fields, "email"),
    password: secret(fields, "password"),
    workspaceName: text(fields, "workspaceName"),
    timeZone: deviceTimeZone(),
  };
}
