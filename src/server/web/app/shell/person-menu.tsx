import { useNavigate } from "@tanstack/react-router";
import type { Session } from "#api/session.ts";
import { Menu, MenuChoice, MenuItem, MenuLine } from "#server/web/app/ui/menu.tsx";
import { useTheme } from "./theme.ts";
import { signOut } from "./sign-out.ts";

/** The signed-in person, with a menu for the theme, the profile and signing out. */
export function PersonMenu({ session: { user } }: { session: Session }) {
  const [theme, setTheme] = useTheme();
  const navigate = useNavigate();
  return (
    <Menu
      side="top"
      button={
        <>
          <span
            aria-hidden="true"
            className="bg-accent-fill text-on-fill flex size-7 shrink-0 items-center justify-center rounded-full text-xs font-semibold"
          >
            {initialsOf(user.name)}
          </span>
          <span className="min-w-0 flex-1 leading-tight">
            <span className="block truncate font-medium">{user.name}</span>
            <span className="text-muted block truncate text-xs">{user.email}</span>
          </span>
          <span className="sr-only">Profile, theme, sign out</span>
        </>
      }
    >
      <MenuItem icon="person" onSelect={() => void navigate({ to: "/settings/profile" })}>
        Profile
      </MenuItem>
      <MenuLine />
      <MenuChoice
        choices={[
          { value: "system", label: "System", icon: "system" },
          { value: "light", label: "Light", icon: "sun" },
          { value: "dark", label: "Dark", icon: "moon" },
        ]}
        label="Theme"
        onChoose={setTheme}
        value={theme}
      />
      <MenuLine />
      <MenuItem icon="out" onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase();
}
