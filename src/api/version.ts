declare const __KB_VERSION__: string | undefined;

/**
 * The version of this build, and from sources the one in package.json, as a test makes sure. A constant, so that
 * `kb --version` reads no file.
 */
export const VERSION: string = typeof __KB_VERSION__ === "string" ? __KB_VERSION__ : "0.1.0";
