/** A part of kb that could not be loaded. The file that needed it is not at fault. */
export class NotLoaded extends Error {
  override readonly name = "NotLoaded";
}

/**
 * Loads a part with a dynamic import, for parts that only some files need. Every `import()` of this library goes
 * through here, so that a failure to load isn't mistaken for a broken file.
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
