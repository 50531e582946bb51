/** A part of kb that could not be loaded. Nothing is wrong with the file that it was wanted for. */
export class NotLoaded extends Error {
  override readonly name = "NotLoaded";
}

/**
 * What a dynamic import gives, for parts that only some files need. Every `import()` of this library goes through here, so
 * that no failure to load is taken for a broken file.
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
