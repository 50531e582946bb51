/** A part of kb that couldn't be loaded, which isn't the fault of the file that needed it. */
export class NotLoaded extends Error {
  override readonly name = "NotLoaded";
}

/**
 * Loads a part that only some files need with a dynamic import. Every `import()` of this library uses this function, so that a failure to load isn't
 * mistaken for a broken file.
 *
 * @throws NotLoaded with the failure as its cause
 */
export async function loadPart<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (cause) {
    throw new NotLoaded("A part of kb could not be loaded.", { cause });
  }
}
