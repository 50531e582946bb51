import type { ComponentProps } from "react";
import type { ProviderServer } from "#api/provider-servers.ts";
import { CheckboxField, TextField } from "#server/web/app/ui/form.tsx";

/** The URL of a server. */
export function UrlField(props: Pick<ComponentProps<typeof TextField>, "defaultValue" | "hint" | "placeholder">) {
  return <TextField inputMode="url" label="URL" maxLength={2000} name="url" spellCheck={false} {...props} />;
}

/** Who may connect the server. */
export function PolicyField({ defaultChecked }: { defaultChecked?: boolean }) {
  return (
    <CheckboxField
      defaultChecked={defaultChecked}
      hint="Otherwise every member can connect their account."
      label="Only admins can connect it"
      name="isForAdmins"
    />
  );
}

/** Returns the field's value in the form that the API expects. */
export function policyOf(form: FormData): ProviderServer["connectPolicy"] {
  return form.get("isForAdmins") === null ? "members" : "admins";
}
