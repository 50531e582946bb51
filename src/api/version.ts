declare const KB_BUILD_VERSION: string | undefined;

/**
 * The version of this build; when run from source, the one in package.json, which a test checks. A constant, so that
 * `kb --version` reads no file.
 */
export const VERSION: string = typeof KB_BUILD_VERSION === "string" ? KB_BUILD_VERSION : "0.1.0";
