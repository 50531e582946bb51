import { Button } from "#server/web/app/ui/button.tsx";

/** Shown when a page crashed, or its file no longer exists because the server was upgraded. */
export function PageFailure() {
  return (
    <main className="mx-auto flex max-w-md flex-col items-center px-4 py-16 text-center">
      <title>This page couldn't load · kb</title>
      <h1 className="text-xl">This page couldn't load</h1>
      <p className="text-muted mt-2 mb-4">
        The server may have been upgraded since you opened the page. Reload to try again.
      </p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </main>
  );
}
