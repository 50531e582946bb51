import { Mark } from "#server/web/app/ui/icon.tsx";

/**
 * Shown for something that doesn't exist and for something that a person may not see. It is identical for both.
 * Source: S25.
 */
export function NothingHere() {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-4 py-16 text-center">
      <title>Page not found · kb</title>
      <Mark size={32} />
      <h1 className="mt-4 text-xl" tabIndex={-1}>
        Page not found
      </h1>
      <p className="text-muted mt-2">
        This page doesn't exist, or you don't have access to it. Check the address and your current workspace.
      </p>
      <p className="mt-4">
        <a href="/">Go to the home page</a>
      </p>
    </div>
  );
}

/** The same content as a page, for an unknown address. */
export function NothingHerePage() {
  return (
    <main>
      <NothingHere />
    </main>
  );
}
