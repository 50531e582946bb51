import { Button } from "#server/web/app/ui/button.tsx";
import { signOut } from "./sign-out.ts";

/** The signed-in person who makes the decision, with a way to change the account. */
export function SignedInAs({ user }: { user: { name: string } }) {
  return (
    <p className="wrap-anywhere">
      <Button kind="quiet" onClick={() => void signOut(window.location.pathname)}>
        Not {user.name}? Use another account
      </Button>
    </p>
  );
}
