import { isApiError } from "#api/errors.ts";

/** What only notes a use may be lost on a full disk: whoever reads goes on reading. */
export async function unlessFull(noting: Promise<unknown>): Promise<void> {
  await noting.catch((error: unknown) => {
    if (!isApiError(error, "storage_full")) throw error;
  });
}
