/** The version of this package; a test holds it equal to package.json. A constant, so that `kb --version` reads no file. */
export const VERSION = "0.1.0";
