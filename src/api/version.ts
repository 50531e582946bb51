declare const KB_BUILD_VERSION: string | undefined;

/**
 * The version of this build, and from sources the one in package.json, as a test makes sure. A constant, so that
 * `kb --version` reads no file.
 */
export const VERSION: string = typeof KB_BUILD_VERSION === "string" ? KB_BUILD_VERSION : "0.1.0";
