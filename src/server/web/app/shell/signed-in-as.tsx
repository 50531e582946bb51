import { Button } from "#server/web/app/ui/button.tsx";
import { signOut } from "./sign-out.ts";

/** Who decides, and the way to be somebody else. */
export function SignedInAs({ user }: { user: { name: string } }) {
  return (
    <p className="wrap-anywhere">
      <Button kind="quiet" onClick={() => void signOut(window.location.pathname)}>
        Not {user.name}? Use another account
      </Button>
    </p>
  );
}
